#include <algorithm>
#include <barrier>
#include <exception>

#include "load.hpp"
#include "meters.hpp"
#include "test.hpp"

namespace hal::conformance {

Gate Test::gate(hal_stream stream, hal_dev on, Where where) {
    if (!api.stream_add_callback) {
        auto& load = loads_[on];
        if (load == nullptr) {
            load = std::make_unique<Load>(*this, on, where);
        }
        return gates_.emplace_back(load->close(stream, where));
    }
    const Gate gate = gates_.emplace_back(limits.gate_hold);
    if (!set_up(api.stream_add_callback(on, stream, &Gate::callback, gate.argument()), "stream_add_callback for a gate",
                where)) {
        return gate;
    }
    if (!gate.wait_entered(limits.callback_entry)) {
        fail("the callback of a gate", where, "called", "not called within the limit");
    }
    return gate;
}

bool Test::closed(const Gate& gate) {
    const bool sure = gate.surely_closed();
    if (!sure && !gate.is_broken()) {
        recorder_.inconclusive(gate.expired() ? "the gate opened itself before the look"
                                              : "the load of the gate may have ended before the look");
    }
    return sure;
}

Helper Test::blocks(const std::function<hal_status()>& call, const Gate& gate, Where where) {
    return std::move(all_block(1, call, gate, where).front());
}

std::deque<Helper> Test::all_block(int count, const std::function<hal_status()>& call, const Gate& gate, Where where) {
    constexpr std::chrono::milliseconds shortest_look{5};
    std::deque<Helper> helpers;
    for (int i = 0; i < count; ++i) {
        helpers.emplace_back(call);
    }
    const auto look = gate.look(limits.closed_look);
    const auto end = Gate::Clock::now() + look;
    bool returned = false;
    for (const Helper& helper : helpers) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Gate::Clock::now());
        returned = helper.returned_within(std::max(left, std::chrono::milliseconds(0))) || returned;
    }
    // What has not returned by now has waited for all of the look, even if the gate is open by now.
    if ((look < std::min(shortest_look, limits.closed_look) || returned || gate.expired()) && !closed(gate)) {
        return helpers;
    }
    check(!returned, "the call waits while the gate is closed", where);
    return helpers;
}

hal_status Test::returns(const std::function<hal_status()>& call, const Gate& gate, Where where) {
    Helper helper(call);
    const bool returned = helper.returned_within(limits.callback_entry);
    // A call that a load has outlasted may have waited for it or not.
    if ((!returned || closed(gate)) && !check(returned, "the call returns while the gate is closed", where)) {
        gate.give_up();
    }
    const hal_status status = helper.status();
    if (!helper.error().empty()) {
        throw HarnessError(helper.error());
    }
    return status;
}

void Test::refused_behind(const Gate& gate, hal_status expected, const std::function<hal_status()>& call, Where where) {
    // The error's text belongs to the thread that made the call.
    hal_status got = HAL_OK;
    ErrorRecord error;
    (void)returns(
        [&] {
            const uint64_t before = Host::last_error().serial;
            got = call();
            error = Host::last_error();
            error.text = error.serial == before ? std::string() : error.text;
            return HAL_OK;
        },
        gate, where);
    if (!gate.is_broken()) {
        eq(expected, got, "refusal", where);
        check(error.status == got && !error.text.empty(), "error text of the refusal", where);
    }
}

void Test::unwritten(const void* bytes, uint64_t size, const Gate& gate, std::chrono::milliseconds look, Where where) {
    const auto end = Gate::Clock::now() + look;
    auto difference = compare(bytes, poison, size);
    while (!difference && gate.surely_closed() && Gate::Clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        difference = compare(bytes, poison, size);
    }
    if (gate.surely_closed()) {
        judge(
            !difference, "the destination before its turn", where, [] { return "untouched"; },
            [&] { return to_string(*difference); });
    }
}

void Test::expect_unwritten(const HostBuffer& buffer, const Gate& gate, Where where) {
    unwritten(buffer.data(), buffer.size(), gate, gate.look(limits.closed_look), where);
}

void Test::expect_unwritten(const DeviceBuffer& buffer, const Gate& gate, Where where) {
    const auto look = gate.look(limits.closed_look);
    if ((facts.device_flags & HAL_DEVICE_HOST_ACCESSIBLE) != 0) {
        unwritten(reinterpret_cast<const void*>(buffer.ptr), buffer.size, gate, look, where);
    } else if (api.memory_copy_d2h) {
        std::this_thread::sleep_for(look);  // what comes too early has come by then
        if (gate.surely_closed()) {
            const auto bytes = std::make_shared<std::vector<uint8_t>>(buffer.size);  // a call that hangs keeps it
            const auto read = [this, bytes, &buffer] {
                return api.memory_copy_d2h(buffer.dev, bytes->data(), buffer.ptr, buffer.size);
            };
            ok(returns(read, gate, where), "reading the destination beside the gate", where);
            unwritten(bytes->data(), buffer.size, gate, std::chrono::milliseconds(0), where);
        }
    }
}

void Test::keep_alive(std::shared_ptr<void> object) {
    static std::mutex mutex;
    static auto* const kept = new std::vector<std::shared_ptr<void>>;  // never destroyed: it is still reachable
    const std::lock_guard lock(mutex);
    kept->push_back(std::move(object));
}

hal_status Test::poll(const std::function<hal_status()>& query) const {
    const auto end = std::chrono::steady_clock::now() + limits.finish;
    hal_status status = query();
    while (status == HAL_NOT_READY && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
        status = query();
    }
    return status;
}

void Test::threads(int count, const std::function<void(int)>& f) {
    std::vector<std::thread> running;
    std::vector<std::string> errors(static_cast<size_t>(count));
    std::barrier start(count);
    for (int i = 0; i < count; ++i) {
        running.emplace_back([&, i] {
            start.arrive_and_wait();
            try {
                f(i);
            } catch (const std::exception& error) {
                errors[static_cast<size_t>(i)] = error.what();
            }
        });
    }
    for (auto& thread : running) {
        thread.join();
    }
    for (const auto& error : errors) {
        if (!error.empty()) {
            throw HarnessError(error);
        }
    }
}

bool Test::no_leak(uint64_t count, const std::function<void()>& body, Where where) {
    const auto read = [&] { return read_meters(api, facts.device_count); };
    const auto chunk = [&] {
        for (uint64_t i = 0; i < count; ++i) {
            body();
        }
    };
    const auto leaks = find_leaks(read, chunk, leak_thresholds(api, facts.device_count));
    for (const Leak& leak : leaks) {
        fail(leak.meter, where, "level over every " + std::to_string(count) + " calls", leak.growths);
    }
    return leaks.empty() && check(true, "no leak", where);
}

}  // namespace hal::conformance

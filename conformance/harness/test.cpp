#include "test.hpp"

#include <algorithm>
#include <barrier>
#include <exception>

#include "load.hpp"
#include "meters.hpp"

namespace hal::conformance {
namespace {

std::string file_of(std::string_view path) {
    return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace

Test::Test(const Target& plugin, const Instance& instance, const Facts& known, uint64_t seed, const Limits& bounds,
           Recorder& recorder)
    : backend_(std::make_unique<Backend>(plugin)),
      api(backend_->api()),
      limits(bounds),
      facts(known),
      target(plugin),
      recorder_(recorder),
      instance_(instance),
      seed_(case_seed(seed, instance.id)) {
    if (const hal_status status = backend_->initialize(); status != HAL_OK) {
        fail("initialize before the case", Where::here(), "HAL_OK", to_string(status) + ": " + Host::last_error().text);
    }
}

Test::~Test() {
    try {
        clean_up();
    } catch (const std::exception& error) {
        recorder_.inconclusive(error.what());
    }
}

// ---- Checks ----

void Test::fail(std::string_view what, Where where, std::string expected, std::string got, enum authority at_most) {
    std::string text;
    for (const auto& part : context_) {
        text += part + " ";
    }
    text += what;
    recorder_.failed({file_of(where.file) + ":" + std::to_string(where.line), text, std::move(expected), std::move(got),
                      weaker(instance_.origin->authority, at_most)});
}

bool Test::check(bool good, std::string_view what, Where where) {
    return judge(
        good, what, where, [] { return "yes"; }, [] { return "no"; });
}

bool Test::quality(bool good, std::string_view what, Where where) {
    return judge(
        good, what, where, [] { return "yes"; }, [] { return "no"; }, authority::Q);
}

bool Test::ok(hal_status got, std::string_view what, Where where) {
    return judge(
        got == HAL_OK, what, where, [] { return "HAL_OK"; },
        [&] { return got < 0 ? to_string(got) + ": " + Host::last_error().text : to_string(got); });
}

bool Test::set_up(hal_status got, std::string_view what, Where where) {
    return got == HAL_OK || ok(got, what, where);
}

bool Test::fails(hal_status expected, const std::function<hal_status()>& call, Where where) {
    return fails_any({expected}, call, where);
}

bool Test::fails_any(std::initializer_list<hal_status> expected, const std::function<hal_status()>& call, Where where) {
    const uint64_t before = Host::last_error().serial;
    const hal_status got = call();
    const bool listed = std::find(expected.begin(), expected.end(), got) != expected.end();
    const auto names = [&] {
        std::string text;
        for (const hal_status status : expected) {
            text += (text.empty() ? "" : " or ") + to_string(status);
        }
        return text;
    };
    if (!judge(listed, "refusal", where, names, [&] { return to_string(got); })) {
        return false;
    }
    const ErrorRecord& error = Host::last_error();
    const bool texted =
        error.serial != before && error.status == got && !error.text.empty() && valid_text(error.text, true);
    return judge(
        texted, "error text of the refusal", where, [&] { return "a text in UTF-8 for " + to_string(got); },
        [&] {
            return error.serial == before ? std::string("set_error was not called")
                                          : "\"" + error.text + "\" for " + to_string(error.status);
        },
        authority::A);
}

void Test::metric(std::string name, double value, std::string unit) {
    metrics_.push_back({std::move(name), value, std::move(unit)});
}

std::shared_ptr<void> Test::context(std::string_view name, uint64_t value) {
    context_.push_back(std::string(name) + "=" + std::to_string(value));
    return {nullptr, [this](void*) { context_.pop_back(); }};
}

// ---- Parameters and data ----

std::string_view Test::param(std::string_view name) const {
    const auto found = instance_.params.find(name);
    return found == instance_.params.end() ? std::string_view() : found->second;
}

hal_dev Test::bad_device() const {
    const std::string_view text = param("dev");
    return text == "-1" ? -1 : text == "count" ? facts.device_count : INT32_MAX;
}

Pattern Test::pattern() {
    return {seed_, next_buffer_++};
}
uint64_t Test::random() {
    return mix(seed_ ^ mix(next_random_++));
}

// ---- Streams and events ----

hal_stream Test::stream(hal_dev on, Where where) {
    if (!api.create_stream) {
        return nullptr;
    }
    hal_stream made = nullptr;
    if (set_up(api.create_stream(on, nullptr, &made), "create_stream for the case", where)) {
        streams_.emplace_back(on, made);
    }
    return made;
}

hal_event Test::event(hal_dev on, uint32_t flags, Where where) {
    hal_event made = nullptr;
    hal_event_desc desc{};
    desc.header.size = sizeof desc;
    desc.flags = flags;
    if (set_up(api.create_event(on, flags == 0 ? nullptr : &desc, &made), "create_event for the case", where)) {
        events_.emplace_back(on, made);
    }
    return made;
}

void Test::forget(hal_stream stream) {
    std::erase_if(streams_, [&](const auto& pair) { return pair.second == stream; });
}

void Test::forget(hal_event event) {
    std::erase_if(events_, [&](const auto& pair) { return pair.second == event; });
}

void Test::sync(hal_stream stream, hal_dev on, Where where) {
    const auto limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(limits.finish).count());
    set_up(api.synchronize_stream ? api.synchronize_stream(on, stream, limit_ns) : api.synchronize_device(on, limit_ns),
           "synchronize", where);
}

// ---- Ordering ----

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
    if ((facts.device_flags & HAL_DEVICE_HOST_ACCESSIBLE) != 0) {
        unwritten(reinterpret_cast<const void*>(buffer.ptr), buffer.size, gate, gate.look(limits.closed_look), where);
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

// ---- The end of a case ----

void Test::clean_up() {
    if (clean_) {
        return;
    }
    clean_ = true;
    for (const Gate& gate : gates_) {
        if (gate.expired()) {
            recorder_.inconclusive("a gate was not opened in time");
        }
        gate.open();
    }
    drain();
    confirm_loads();
    destroy_objects();
    for (const Gate& gate : gates_) {
        if (!gate.left()) {
            gate.leak();
        }
    }
    for (const HostBuffer& buffer : host_buffers_) {
        if (!buffer.guards_intact()) {
            fail("the bytes around a host buffer", Where::here(), "untouched", "overwritten");
        }
    }
    if (const hal_status status = backend_->finalize(); status != HAL_OK) {
        fail("finalize after the case", Where::here(), "HAL_OK", to_string(status) + ": " + Host::last_error().text);
    }
    backend_->destroy();
}

// Any outcome but a time-out: a stream that the case has broken still ends its work.
void Test::drain() {
    const auto limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(limits.finish).count());
    for (hal_dev on = 0; on < facts.device_count && api.synchronize_device; ++on) {
        if (api.synchronize_device(on, limit_ns) == HAL_ERROR_TIMEOUT) {
            fail("work left by the case", Where::here(), "ends", "still running after the limit");
        }
    }
}

// A load that was measured on a busy machine may have ended sooner than we thought when the case accused the plug-in.
void Test::confirm_loads() {
    if (recorder_.record().bad() == 0) {
        return;
    }
    for (const auto& [on, load] : loads_) {
        if (!load->confirm()) {
            recorder_.inconclusive("the load of a gate was shorter than measured");
        }
    }
}

void Test::destroy_objects() {
    loads_.clear();
    for (const auto& [on, event] : events_) {
        if (api.destroy_event(on, event) != HAL_OK) {
            fail("destroy_event after the case", Where::here(), "HAL_OK", Host::last_error().text);
        }
    }
    for (const auto& [on, stream] : streams_) {
        if (api.destroy_stream && api.destroy_stream(on, stream) != HAL_OK) {
            fail("destroy_stream after the case", Where::here(), "HAL_OK", Host::last_error().text);
        }
    }
    for (DeviceBuffer& buffer : device_buffers_) {
        release(buffer);
    }
}

}  // namespace hal::conformance

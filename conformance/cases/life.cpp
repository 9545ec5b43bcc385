// Table 1: initialize, finalize. Each case uses instances of its own.
#include "harness/meters.hpp"
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

// Threads and open files, which an instance must give back.
void expect_level(Test& t, const Meters& before, std::string_view after_what) {
    const Meters now = read_meters();
    t.le(now.threads, before.threads, "threads after " + std::string(after_what));
    t.le(now.fds, before.fds, "open files after " + std::string(after_what));
}

HAL_CASE("45079.T1.initialize.norm.first", clauses{"45079/T1.11"}, authority::S, needs{E::initialize})
(Test& t) {
    const auto other = t.another();
    t.ok(other->api().initialize());
    int32_t count = 0;
    t.ok(other->api().get_device_count(&count), "an entry after initialize");
    if (other->api().finalize) {
        t.ok(other->api().finalize());
    }
}

HAL_CASE("45079.T1.initialize.edge.twice", clauses{"45079/T1.11", "45079/T1.12"}, authority::A,
         needs{E::initialize, E::finalize, E::get_device_count})
(Test& t) {
    const auto other = t.another();
    int32_t count = 0;
    t.ok(other->api().initialize());
    t.ok(other->api().initialize(), "twice");
    t.ok(other->api().finalize());
    t.ok(other->api().get_device_count(&count), "one initialize is left");
    t.ok(other->api().finalize());
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().finalize(); });
}

HAL_CASE("45079.T1.initialize.err.before_and_after", clauses{"45079/T1.11", "45079/T1.12"}, authority::A,
         needs{E::initialize, E::finalize, E::create_event})
(Test& t) {
    const auto other = t.another();
    hal_event event = nullptr;
    hal_dptr ptr = 0;
    const auto refuses = [&] {
        t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().create_event(0, nullptr, &event); });
        if (t.facts.has(E::device_memory_allocate)) {
            t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().device_memory_allocate(0, 256, &ptr); });
        }
        t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().synchronize_device(0, HAL_NO_TIMEOUT); });
    };
    refuses();
    t.ok(other->api().initialize());
    t.ok(other->api().synchronize_device(0, HAL_NO_TIMEOUT));
    t.ok(other->api().finalize());
    refuses();
}

HAL_CASE("45079.T1.initialize.life.cycle50", clauses{"45079/T1.11", "45079/T1.12"}, authority::A,
         needs{E::initialize, E::finalize, any_work, E::synchronize_device}, exclusive)
(Test& t) {
    const auto other = t.another();
    const auto cycle = [&] {
        t.ok(other->api().initialize());
        t.ok(other->api().synchronize_device(0, HAL_NO_TIMEOUT));
        t.ok(other->api().finalize());
    };
    cycle();  // whatever is started once and kept has been then
    const Meters settled = read_meters();
    t.no_leak(10, cycle);
    expect_level(t, settled, "50 more cycles");
}

// What one instance starts: a host has other work for its cores.
HAL_CASE("45079.T1.initialize.env.threads_bounded", clauses{"45079/T1.11"}, authority::Q, needs{E::initialize},
         exclusive)
(Test& t) {
    const uint64_t before = read_meters().threads;
    const auto other = t.another();
    t.ok(other->initialize());
    const uint64_t started = read_meters().threads - before;
    t.metric("threads started", static_cast<double>(started), "");
    t.le(started, uint64_t{4} * std::max(1U, std::thread::hardware_concurrency()) + 8,
         "threads that initialize starts");
    t.ok(other->finalize());
}

HAL_CASE("45079.T1.initialize.norm.time", clauses{"45079/T1.11"}, authority::Q, needs{E::initialize})
(Test& t) {
    constexpr double most_seconds = 5;
    const auto begin = std::chrono::steady_clock::now();
    const auto other = t.another();
    t.ok(other->initialize());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    t.metric("create and initialize", seconds, "s");
    t.le(seconds, most_seconds, "seconds of create and initialize");
    t.ok(other->finalize());
}

HAL_CASE("45079.T1.initialize.conc.two_threads", clauses{"45079/T1.11"}, authority::A,
         needs{E::initialize, E::finalize, free_threads})
(Test& t) {
    const auto other = t.another();
    t.threads(8, [&](int) {
        for (int i = 0; i < 20; ++i) {
            t.ok(other->api().initialize());
            t.ok(other->api().finalize());
        }
    });
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().finalize(); });
}

HAL_CASE("45079.T1.finalize.norm.releases_all", clauses{"45079/T1.12"}, authority::D,
         needs{E::finalize, E::initialize, E::create_stream, E::destroy_stream, E::stream_add_callback, memory_io()})
(Test& t) {
    const auto cycle = [&] {
        const auto other = t.another();
        const Api& api = other->api();
        t.ok(api.initialize());
        std::vector<hal_stream> streams(8);
        for (hal_stream& s : streams) {
            t.ok(api.create_stream(0, nullptr, &s));
            t.ok(api.stream_add_callback(
                0, s, [](void*, hal_dev, hal_stream, hal_status) {}, nullptr));
        }
        hal_dptr ptr = 0;
        t.ok(api.device_memory_allocate(0, 1U << 20U, &ptr));
        t.ok(api.device_memory_deallocate(0, ptr, 0));
        for (const hal_stream s : streams) {
            t.ok(api.destroy_stream(0, s));
        }
        t.ok(api.finalize());
    };
    cycle();
    const Meters before = read_meters(t.api, t.facts.device_count);
    for (int i = 0; i < 10; ++i) {
        cycle();
    }
    expect_level(t, before, "ten instances");
    const Meters after = read_meters(t.api, t.facts.device_count);
    for (size_t dev = 0; dev < after.device_bytes.size(); ++dev) {
        t.le(after.device_bytes[dev], before.device_bytes[dev], "device memory in use after ten instances");
    }
    t.no_leak(3, cycle);
}

HAL_CASE("45079.T1.finalize.edge.without_init", clauses{"45079/T1.12"}, authority::A, needs{E::finalize, E::initialize})
(Test& t) {
    const auto other = t.another();
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().finalize(); });
    t.ok(other->api().initialize(), "after the refusal");
    t.ok(other->api().finalize());
}

HAL_CASE("45079.T1.finalize.edge.twice", clauses{"45079/T1.12"}, authority::A, needs{E::finalize, E::initialize})
(Test& t) {
    const auto other = t.another();
    t.ok(other->api().initialize());
    t.ok(other->api().finalize());
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().finalize(); });
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().finalize(); });
}

HAL_CASE("45079.T1.finalize.err.live_objects", clauses{"45079/T1.12"}, authority::A,
         needs{E::finalize, E::initialize, E::create_event, E::destroy_event})
(Test& t) {
    const auto other = t.another();
    const Api& api = other->api();
    hal_event event = nullptr;
    t.ok(api.initialize());
    t.ok(api.create_event(0, nullptr, &event));
    t.fails(HAL_ERROR_BUSY, [&] { return api.finalize(); });
    t.check(Host::last_error().text.find('1') != std::string::npos, "the text has the number of live objects");
    t.ok(api.destroy_event(0, event), "the object is still alive");
    if (t.facts.has(E::device_memory_allocate) && t.facts.has(E::device_memory_deallocate)) {
        hal_dptr ptr = 0;
        t.ok(api.device_memory_allocate(0, 256, &ptr));
        t.fails(HAL_ERROR_BUSY, [&] { return api.finalize(); });
        t.ok(api.device_memory_deallocate(0, ptr, 256));
    }
    if (t.facts.has(E::create_stream) && t.facts.has(E::destroy_stream)) {
        hal_stream stream = nullptr;
        t.ok(api.create_stream(0, nullptr, &stream));
        t.fails(HAL_ERROR_BUSY, [&] { return api.finalize(); });
        t.ok(api.destroy_stream(0, stream));
    }
    t.ok(api.finalize());
}

HAL_CASE("45079.T1.finalize.life.destroy_with_live_objects", clauses{"45079/T1.12"}, authority::A,
         needs{E::finalize, E::create_event, E::record_event, E::create_stream, memory_io()})
(Test& t) {
    for (int i = 0; i < 10; ++i) {
        const auto other = t.another();
        const Api& api = other->api();
        hal_event event = nullptr;
        hal_stream stream = nullptr;
        hal_dptr ptr = 0;
        t.ok(other->initialize());
        t.ok(api.create_stream(0, nullptr, &stream));
        t.ok(api.create_event(0, nullptr, &event));
        t.ok(api.record_event(0, stream, event));
        t.ok(api.device_memory_allocate(0, 5000, &ptr));
        other->destroy();  // ends everything of the instance, live objects included
    }
    t.check(true, "destroy has returned ten times");
}

// destroy with work behind a gate: it waits or cancels, and no callback runs after it.
HAL_CASE("45079.T1.finalize.order.no_callback_after_destroy", clauses{"45079/T1.12"}, authority::A,
         needs{E::finalize, E::stream_add_callback})
(Test& t) {
    std::atomic<int> running{0};
    std::atomic<bool> destroyed{false};
    std::atomic<int> late{0};
    struct State {
        std::atomic<int>& running;
        std::atomic<bool>& destroyed;
        std::atomic<int>& late;
    } state{running, destroyed, late};
    const auto callback = [](void* user, hal_dev, hal_stream, hal_status) {
        State& s = *static_cast<State*>(user);
        ++s.running;
        s.late += s.destroyed ? 1 : 0;
    };
    const auto other = t.another();
    t.ok(other->initialize());
    for (int i = 0; i < 1000; ++i) {
        t.ok(other->api().stream_add_callback(0, nullptr, callback, &state));
    }
    other->destroy();
    destroyed = true;
    const int at_return = running;
    t.threads(1, [](int) {});  // a turn for any thread that should not be there
    t.eq(at_return, running.load(), "callbacks when destroy returned, and later");
    t.eq(0, late.load(), "callbacks after destroy");
}

HAL_CASE("45079.T1.finalize.life.other_thread", clauses{"45079/T1.12"}, authority::A, needs{E::finalize, E::initialize})
(Test& t) {
    const auto other = t.another();
    t.ok(other->api().initialize());
    t.threads(1, [&](int) { t.ok(other->api().finalize()); });
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().finalize(); });
}

HAL_CASE("45079.T1.finalize.life.reinit_state_fresh", clauses{"45079/T1.12"}, authority::D,
         needs{E::finalize, E::initialize, E::device_memory_stats, memory_io()})
(Test& t) {
    const auto other = t.another();
    const Api& api = other->api();
    for (int i = 0; i < 3; ++i) {
        t.ok(api.initialize());
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        t.ok(api.device_memory_stats(0, &stats));
        t.eq(uint64_t{0}, stats.live_allocations, "live allocations");
        t.eq(uint64_t{0}, stats.used_bytes, "used bytes");
        hal_dptr ptr = 0;
        t.ok(api.device_memory_allocate(0, 100'000, &ptr));
        t.ok(api.device_memory_deallocate(0, ptr, 0));
        if (api.set_device && api.get_device) {
            hal_dev current = INT32_MIN;
            t.ok(api.get_device(&current));
            t.eq(0, current, "current device of a fresh start");
            t.ok(api.set_device(t.facts.device_count - 1));
        }
        t.ok(api.finalize());
    }
}

// A gate holds the default stream: finalize waits or says BUSY, and nothing of the stream runs after it succeeded.
HAL_CASE("45079.T1.finalize.order.pending_work", clauses{"45079/T1.12"}, authority::A,
         needs{E::finalize, E::initialize, E::stream_add_callback, E::synchronize_device})
(Test& t) {
    const auto other = t.another();
    const Api& api = other->api();
    t.ok(api.initialize());
    const Gate gate(t.limits.gate_hold);
    t.ok(api.stream_add_callback(0, nullptr, &Gate::callback, gate.argument()));
    if (!t.check(gate.wait_entered(t.limits.callback_entry), "the callback is called")) {
        gate.leak();
        return;
    }
    Helper ending([&] { return api.finalize(); });
    (void)ending.returned_within(t.limits.closed_look);
    gate.open();
    const hal_status status = ending.status();
    if (gate.expired()) {
        t.recorder().inconclusive("the gate opened itself");
    }
    if (t.check(status == HAL_OK || status == HAL_ERROR_BUSY, "finalize with work that is held: succeeds or is BUSY") &&
        status == HAL_OK) {
        t.check(gate.left(), "the callback has ended when finalize returns");
    } else {
        t.ok(api.synchronize_device(0, HAL_NO_TIMEOUT));
        t.ok(api.finalize(), "after the work has ended");
    }
}

HAL_CASE("45079.T1.finalize.life.no_callback_after", clauses{"45079/T1.12"}, authority::D,
         needs{E::finalize, E::initialize, E::stream_add_callback, E::synchronize_device})
(Test& t) {
    struct State {
        std::atomic<bool> ended{false};
        std::atomic<int> calls{0};
        std::atomic<int> late{0};
    };
    // Never freed: a callback that comes late must find it.
    static auto* const states = new std::deque<State>;
    State& state = states->emplace_back();
    const auto callback = [](void* user, hal_dev, hal_stream, hal_status) {
        State& s = *static_cast<State*>(user);
        s.late += s.ended ? 1 : 0;
        ++s.calls;
    };
    const auto other = t.another();
    t.ok(other->api().initialize());
    constexpr int callbacks = 1000;
    for (int i = 0; i < callbacks; ++i) {
        t.ok(other->api().stream_add_callback(0, nullptr, callback, &state));
    }
    hal_status status = other->api().finalize();
    if (status == HAL_ERROR_BUSY) {
        t.ok(other->api().synchronize_device(0, HAL_NO_TIMEOUT));
        status = other->api().finalize();
    }
    state.ended = true;
    t.ok(status);
    const int at_return = state.calls;
    // Those that are missing were cancelled, or are late: time for them to show.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (at_return < callbacks && state.calls == at_return && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    other->destroy();
    t.threads(1, [](int) {});  // a turn for any thread that should not be there
    t.eq(at_return, state.calls.load(), "callbacks when finalize returned, and later");
    t.eq(0, state.late.load(), "callbacks after finalize");
}

}  // namespace
}  // namespace hal::conformance

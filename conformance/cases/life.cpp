// Table 1: initialize, finalize, init_device, deinit_device. Each case uses instances of its own.
#include <dirent.h>

#include "harness/test.hpp"

namespace hal::conformance {
namespace {

size_t entries_in(const char* directory) {
    size_t count = 0;
    if (DIR* opened = opendir(directory)) {
        while (readdir(opened) != nullptr) {
            ++count;
        }
        closedir(opened);
    }
    return count;
}

HAL_CASE("45079.T1.initialize.norm.counted", clauses{"45079/T1.11", "45079/T1.12"}, authority::A,
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
         needs{E::initialize, E::finalize, any_work, E::synchronize_device})
(Test& t) {
    const auto other = t.another();
    size_t threads = 0;
    size_t files = 0;
    for (int i = 0; i < 50; ++i) {
        t.ok(other->api().initialize());
        t.ok(other->api().synchronize_device(0, HAL_NO_TIMEOUT));
        t.ok(other->api().finalize());
        if (i == 9) {  // whatever is started once and kept has been by now
            threads = entries_in("/proc/self/task");
            files = entries_in("/proc/self/fd");
        }
    }
    t.eq(threads, entries_in("/proc/self/task"), "threads after 40 more cycles");
    t.eq(files, entries_in("/proc/self/fd"), "open files after 40 more cycles");
}

HAL_CASE("45079.T1.initialize.conc.two_threads", clauses{"45079/T1.11"}, authority::A,
         needs{E::initialize, E::finalize})
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
    const size_t threads = entries_in("/proc/self/task");
    const size_t files = entries_in("/proc/self/fd");
    for (int i = 0; i < 10; ++i) {
        cycle();
    }
    t.eq(threads, entries_in("/proc/self/task"), "threads");
    t.eq(files, entries_in("/proc/self/fd"), "open files");
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
        t.ok(api.finalize());
    }
}

// ---- One device ----

HAL_CASE("45079.T1.init_device.norm.each", clauses{"45079/T1.13"}, authority::S,
         needs{E::init_device, E::deinit_device})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.ok(t.api.init_device(dev));
        t.ok(t.api.init_device(dev), "counted");
        t.ok(t.api.deinit_device(dev));
        t.ok(t.api.deinit_device(dev));
    }
}

HAL_CASE("45079.T1.init_device.conc.parallel_all", clauses{"45079/T1.13"}, authority::A,
         needs{E::init_device, E::deinit_device})
(Test& t) {
    t.threads(8, [&](int thread) {
        const hal_dev dev = thread % t.facts.device_count;
        for (int i = 0; i < 50; ++i) {
            t.ok(t.api.init_device(dev));
            t.ok(t.api.deinit_device(dev));
        }
    });
}

HAL_CASE("45079.T1.deinit_device.norm.usable_after_reinit", clauses{"45079/T1.14"}, authority::D,
         needs{E::deinit_device, E::init_device, memory_io()})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    for (int i = 0; i < 5; ++i) {
        t.ok(t.api.init_device(dev));
        const Pattern pattern = t.pattern();
        DeviceBuffer& buffer = t.device(pattern, 3001, dev);
        t.expect(buffer, pattern, "data");
        t.release(buffer);
        t.ok(t.api.deinit_device(dev));
    }
}

HAL_CASE("45079.T1.deinit_device.life.others_unhurt", clauses{"45079/T1.14"}, authority::D,
         needs{E::deinit_device, E::init_device, memory_io(), devices(2)})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& kept = t.device(pattern, 10'001, 0);
    t.ok(t.api.init_device(1));
    t.ok(t.api.deinit_device(1));
    t.expect(kept, pattern, "data of the other device");
}

HAL_CASE("45079.T1.deinit_device.err.without_init", clauses{"45079/T1.14"}, authority::A,
         needs{E::deinit_device, E::init_device})
(Test& t) {
    const auto other = t.another();
    t.ok(other->initialize());
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().deinit_device(0); });
    t.ok(other->finalize());
}

}  // namespace
}  // namespace hal::conformance

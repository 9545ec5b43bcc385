// Table 1: which devices there are, and which is current.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T1.get_device_count.norm.nonzero", clauses{"45079/T1.8"}, authority::S, needs{E::get_device_count})
(Test& t) {
    int32_t count = INT32_MIN;
    t.ok(t.api.get_device_count(&count));
    t.le(1, count, "devices");
}

HAL_CASE("45079.T1.get_device_count.norm.stable_in_process", clauses{"45079/T1.8"}, authority::D,
         needs{E::get_device_count})
(Test& t) {
    for (int i = 0; i < 100; ++i) {
        int32_t count = INT32_MIN;
        t.ok(t.api.get_device_count(&count));
        t.eq(t.facts.device_count, count, "devices");
    }
}

HAL_CASE("45079.T1.get_device_count.norm.every_index_usable", clauses{"45079/T1.8", "45079/T1.5"}, authority::D,
         needs{E::get_device_count, E::set_device, E::create_event, E::record_event, E::synchronize_event})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const auto in = t.context("device", static_cast<uint64_t>(dev));
        t.ok(t.api.set_device(dev));
        const hal_event event = t.event(dev);
        t.ok(t.api.record_event(dev, nullptr, event));
        t.ok(t.api.synchronize_event(dev, event, HAL_NO_TIMEOUT));
    }
}

HAL_CASE("45079.T1.get_device_count.err.null_out", clauses{"45079/T1.8"}, authority::A, needs{E::get_device_count})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_count(nullptr); });
}

HAL_CASE("45079.T1.get_device_count.conc.threads8", clauses{"45079/T1.8"}, authority::A, needs{E::get_device_count})
(Test& t) {
    t.threads(8, [&](int) {
        for (int i = 0; i < 200; ++i) {
            int32_t count = INT32_MIN;
            t.ok(t.api.get_device_count(&count));
            t.eq(t.facts.device_count, count, "devices");
        }
    });
}

// ---- set_device, get_device ----

HAL_CASE("45079.T1.set_device.norm.each_index", clauses{"45079/T1.5"}, authority::S,
         needs{E::set_device, E::get_device})
(Test& t) {
    for (hal_dev dev = t.facts.device_count - 1; dev >= 0; --dev) {
        hal_dev got = INT32_MIN;
        t.ok(t.api.set_device(dev));
        t.ok(t.api.get_device(&got));
        t.eq(dev, got, "current device");
    }
}

HAL_CASE("45079.T1.set_device.edge.same_again", clauses{"45079/T1.5"}, authority::D,
         needs{E::set_device, E::get_device})
(Test& t) {
    const hal_dev last = t.facts.device_count - 1;
    for (int i = 0; i < 10'000; ++i) {
        t.ok(t.api.set_device(last));
    }
    hal_dev got = INT32_MIN;
    t.ok(t.api.get_device(&got));
    t.eq(last, got, "current device");
}

HAL_CASE("45079.T1.set_device.err.invalid_keeps_state", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device}, bad_devices())
(Test& t) {
    const hal_dev last = t.facts.device_count - 1;
    t.ok(t.api.set_device(last));
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(t.bad_device()); });
    hal_dev got = INT32_MIN;
    t.ok(t.api.get_device(&got));
    t.eq(last, got, "current device after the refusal");
}

HAL_CASE("45079.T1.set_device.conc.per_thread", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device, devices(2)})
(Test& t) {
    std::atomic<int> arrived{0};
    t.threads(8, [&](int thread) {
        const hal_dev mine = thread % t.facts.device_count;
        t.ok(t.api.set_device(mine));
        for (++arrived; arrived < 8;) {
            std::this_thread::yield();  // every thread has set its own before any looks
        }
        hal_dev got = INT32_MIN;
        t.ok(t.api.get_device(&got));
        t.eq(mine, got, "current device of this thread");
    });
}

HAL_CASE("45079.T1.set_device.conc.new_thread_default", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device, devices(2)})
(Test& t) {
    t.ok(t.api.set_device(1));
    t.threads(1, [&](int) {
        hal_dev got = INT32_MIN;
        t.ok(t.api.get_device(&got));
        t.eq(0, got, "current device of a new thread");
    });
}

HAL_CASE("45079.T1.set_device.life.after_reinit", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device, devices(2)})
(Test& t) {
    t.ok(t.api.set_device(1));
    const auto second = t.another();
    t.ok(second->initialize());
    hal_dev got = INT32_MIN;
    t.ok(second->api().get_device(&got));
    t.eq(0, got, "current device in another instance");
    t.ok(second->finalize());
}

HAL_CASE("45079.T1.set_device.stress.flip", clauses{"45079/T1.5"}, authority::D,
         needs{E::set_device, E::get_device, memory_io(), devices(2)})
(Test& t) {
    std::vector<DeviceBuffer*> buffers;
    std::vector<Pattern> patterns;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        patterns.push_back(t.pattern());
        buffers.push_back(&t.device(patterns.back(), 97, dev));
    }
    for (int i = 0; i < 2000; ++i) {
        const auto current = static_cast<hal_dev>(t.random() % static_cast<uint64_t>(t.facts.device_count));
        const auto used = static_cast<size_t>(t.random() % static_cast<uint64_t>(t.facts.device_count));
        t.ok(t.api.set_device(current));
        t.expect(*buffers[used], patterns[used], "data of a device that may not be current");
        hal_dev got = INT32_MIN;
        t.ok(t.api.get_device(&got));
        t.eq(current, got, "current device after a copy on another");
    }
}

HAL_CASE("45079.T1.get_device.norm.initial_valid", clauses{"45079/T1.6"}, authority::S, needs{E::get_device})
(Test& t) {
    t.threads(1, [&](int) {
        hal_dev got = INT32_MIN;
        t.ok(t.api.get_device(&got));
        t.eq(0, got, "device before any set_device");
    });
}

HAL_CASE("45079.T1.get_device.norm.not_cached_wrongly", clauses{"45079/T1.6"}, authority::A,
         needs{E::get_device, E::set_device, E::create_event, E::record_event, E::synchronize_device, devices(2)})
(Test& t) {
    t.ok(t.api.set_device(0));
    const hal_event event = t.event(1);
    t.ok(t.api.record_event(1, nullptr, event));
    t.ok(t.api.synchronize_device(1, HAL_NO_TIMEOUT));
    hal_dev got = INT32_MIN;
    t.ok(t.api.get_device(&got));
    t.eq(0, got, "current device after work on another");
}

HAL_CASE("45079.T1.get_device.err.null_out", clauses{"45079/T1.6"}, authority::A, needs{E::get_device})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device(nullptr); });
}

// ---- get_device_list ----

HAL_CASE("45079.T1.get_device_list.norm.length_equals_count", clauses{"45079/T1.9"}, authority::D,
         needs{E::get_device_list})
(Test& t) {
    const auto expected = static_cast<uint32_t>(t.facts.device_count);
    std::vector<hal_dev> list(expected + 4, INT32_MIN);
    uint32_t count = UINT32_MAX;
    t.ok(t.api.get_device_list(list.data(), expected + 4, &count));
    t.eq(expected, count, "ordinals");
    for (uint32_t i = 0; i < expected; ++i) {
        t.eq(static_cast<hal_dev>(i), list[i], "ordinal");
    }
    for (uint32_t i = expected; i < list.size(); ++i) {
        t.eq(INT32_MIN, list[i], "place behind the last ordinal");
    }
}

HAL_CASE("45079.T1.get_device_list.edge.cap_short", clauses{"45079/T1.9"}, authority::A, needs{E::get_device_list})
(Test& t) {
    const auto expected = static_cast<uint32_t>(t.facts.device_count);
    for (uint32_t capacity = 0; capacity < expected; ++capacity) {
        std::vector<hal_dev> list(expected, INT32_MIN);
        uint32_t count = UINT32_MAX;
        t.eq(HAL_INCOMPLETE, t.api.get_device_list(list.data(), capacity, &count), "status of a short array");
        t.eq(expected, count, "ordinals there are");
        t.eq(INT32_MIN, list[capacity], "place behind the capacity");
    }
    uint32_t count = UINT32_MAX;
    t.eq(HAL_INCOMPLETE, t.api.get_device_list(nullptr, 0, &count), "status of no array");
    t.eq(expected, count, "ordinals there are");
}

HAL_CASE("45079.T1.get_device_list.err.null_out", clauses{"45079/T1.9"}, authority::A, needs{E::get_device_list})
(Test& t) {
    hal_dev list[1] = {0};
    uint32_t count = 0;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_list(list, 1, nullptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_list(nullptr, 1, &count); });
}

}  // namespace
}  // namespace hal::conformance

// What a call costs by itself, where it starts no work or the least there is.
#include "measure.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("perf.call.get_device", clauses{"46345/A.6 a"}, authority::A, needs{E::get_device}, cls::medium, exclusive)
(Test& t) {
    hal_dev dev = 0;
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            (void)t.api.get_device(&dev);
        }
    });
    t.eq(0, dev, "the current device");
}

HAL_CASE("perf.call.query_stream", clauses{"46345/A.6 a"}, authority::A, needs{E::query_stream}, cls::medium, exclusive)
(Test& t) {
    const hal_stream s = t.stream();
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            (void)t.api.query_stream(0, s, nullptr);
        }
    });
    t.ok(t.api.query_stream(0, s, nullptr), "an idle stream");
}

HAL_CASE("perf.call.query_event", clauses{"46345/A.6 a"}, authority::A,
         needs{E::query_event, E::create_event, E::record_event, E::synchronize_event}, cls::medium, exclusive)
(Test& t) {
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, nullptr, event));
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            (void)t.api.query_event(0, event);
        }
    });
    t.ok(t.api.query_event(0, event), "a complete event");
}

HAL_CASE("perf.call.record_event", clauses{"46345/A.6 a"}, authority::A,
         needs{E::create_event, E::record_event, E::synchronize_event}, cls::medium, exclusive)
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            (void)t.api.record_event(0, s, event);
        }
        (void)t.api.synchronize_event(0, event, HAL_NO_TIMEOUT);
    });
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

HAL_CASE("perf.call.create_event", clauses{"46345/A.6 a"}, authority::A, needs{E::create_event, E::destroy_event},
         cls::medium, exclusive)
(Test& t) {
    hal_status status = HAL_OK;
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n && status == HAL_OK; ++i) {
            hal_event event = nullptr;
            status = t.api.create_event(0, nullptr, &event);
            status = status == HAL_OK ? t.api.destroy_event(0, event) : status;
        }
    });
    t.ok(status);
}

HAL_CASE("perf.call.synchronize_stream", clauses{"46345/A.6 a"}, authority::A, needs{E::synchronize_stream},
         cls::medium, exclusive)
(Test& t) {
    const hal_stream s = t.stream();
    hal_status status = HAL_OK;
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            status = t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT);
        }
    });
    t.ok(status, "an idle stream");
}

HAL_CASE("perf.alloc", clauses{"46345/A.6 a"}, authority::A,
         needs{E::device_memory_allocate, E::device_memory_deallocate}, cls::medium, exclusive,
         over("size", {"256", "4096", "1048576", "67108864"}))
(Test& t) {
    const uint64_t size = std::stoull(std::string(t.param("size")));
    hal_status status = HAL_OK;
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n && status == HAL_OK; ++i) {
            hal_dptr memory = 0;
            status = t.api.device_memory_allocate(0, size, &memory);
            status = status == HAL_OK ? t.api.device_memory_deallocate(0, memory, size) : status;
        }
    });
    t.ok(status);
}

}  // namespace
}  // namespace hal::conformance

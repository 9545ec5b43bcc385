// Launching, callbacks, events between streams, overlap.
#include "measure.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t little = 8;

HAL_CASE("perf.launch", clauses{"45079/T3.4", "46345/A.6 a"}, authority::A,
         needs{memory_io(), E::async_memory_copy_d2d, E::synchronize_stream}, cls::medium, exclusive)
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, little);
    const DeviceBuffer& to = t.device(little);
    const hal_stream s = t.stream();
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            (void)t.api.async_memory_copy_d2d(0, s, to.ptr, from.ptr, little);
            t.sync(s);
        }
    });
    t.expect(to, pattern, "the last launch");
}

HAL_CASE("perf.callback_delay", clauses{"45079/T3.5", "46345/A.6 a"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_stream}, cls::medium, exclusive)
(Test& t) {
    static std::atomic<uint64_t> calls;
    calls = 0;
    const hal_stream s = t.stream();
    uint64_t asked = 0;
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            ++asked;
            (void)t.api.stream_add_callback(
                0, s, [](void*, hal_dev, hal_stream, hal_status) { ++calls; }, nullptr);
            t.sync(s);
        }
    });
    t.eq(asked, calls.load(), "callbacks that came");
}

HAL_CASE("perf.event_wait_hop", clauses{"45079/T3.6", "46345/A.6 a"}, authority::A,
         needs{E::create_stream, E::create_event, E::record_event, E::stream_wait_event, E::synchronize_stream},
         cls::medium, exclusive)
(Test& t) {
    const std::array<hal_stream, 2> streams{t.stream(), t.stream()};
    const std::array<hal_event, 2> events{t.event(), t.event()};
    hal_status status = HAL_OK;
    measure(t, [&](uint64_t n) {
        for (uint64_t i = 0; i < n; ++i) {
            const size_t from = i % 2;
            status = t.api.record_event(0, streams[from], events[from]);
            status = t.api.stream_wait_event(0, streams[1 - from], events[from]);
        }
        t.sync(streams[0]);
        t.sync(streams[1]);
    });
    t.ok(status);
}

// How much of two copies on two streams happens at once: 0 none, 1 all of the shorter.
HAL_CASE("perf.overlap", clauses{"45280/5.3.3", "46345/A.6 a"}, authority::A,
         needs{memory_io(), E::create_stream, E::async_memory_copy_h2d, E::async_memory_copy_d2d,
               E::synchronize_stream},
         cls::medium, exclusive)
(Test& t) {
    constexpr uint64_t size = 8U << 20U;
    const Pattern pattern = t.pattern();
    const HostBuffer& source = t.host(pattern, size);
    const DeviceBuffer& to = t.device(size);
    const DeviceBuffer& first = t.device(pattern, size);
    const DeviceBuffer& second = t.device(size);
    const hal_stream a = t.stream();
    const hal_stream b = t.stream();
    const auto upload = [&] { (void)t.api.async_memory_copy_h2d(0, a, to.ptr, source.data(), size); };
    const auto copy = [&] { (void)t.api.async_memory_copy_d2d(0, b, second.ptr, first.ptr, size); };
    const auto time = [&](bool with_upload, bool with_copy) {
        return sample([&](uint64_t n) {
                   for (uint64_t i = 0; i < n; ++i) {
                       if (with_upload) {
                           upload();
                       }
                       if (with_copy) {
                           copy();
                       }
                   }
                   t.sync(a);
                   t.sync(b);
               })
            .quantile(0.5);
    };
    const double one = time(true, false);
    const double other = time(false, true);
    const double both = time(true, true);
    t.metric("overlap", (one + other - both) / std::min(one, other), "1");
    t.expect(to, pattern, "the copy from the host");
    t.expect(second, pattern, "the copy on the device");
}

}  // namespace
}  // namespace hal::conformance

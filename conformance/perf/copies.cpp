// Copies: the time of one at the small sizes, the rate at the large ones. Every byte of the last one is compared.
#include "measure.hpp"

namespace hal::conformance {
namespace {

const over& sizes() {
    static const over axis{"size", {"8", "4096", "1048576", "67108864"}};
    return axis;
}

uint64_t size_of(const Test& t) {
    return std::stoull(std::string(t.param("size")));
}

void measure_copies(Test& t, const std::function<void()>& copy, hal_stream stream = nullptr) {
    measure(
        t,
        [&](uint64_t n) {
            for (uint64_t i = 0; i < n; ++i) {
                copy();
            }
            if (stream != nullptr) {
                t.sync(stream);
            }
        },
        size_of(t));
}

HAL_CASE("perf.copy.h2d", clauses{"45079/T2.7", "46345/A.6 a"}, authority::A, needs{memory_io()}, cls::medium,
         exclusive, sizes())
(Test& t) {
    const uint64_t size = size_of(t);
    const Pattern pattern = t.pattern();
    const HostBuffer& source = t.host(pattern, size);
    const DeviceBuffer& to = t.device(size);
    measure_copies(t, [&] { (void)t.api.memory_copy_h2d(0, to.ptr, source.data(), size); });
    t.expect(to, pattern, "the last copy");
}

HAL_CASE("perf.copy.d2h", clauses{"45079/T2.8", "46345/A.6 a"}, authority::A, needs{memory_io()}, cls::medium,
         exclusive, sizes())
(Test& t) {
    const uint64_t size = size_of(t);
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, size);
    const HostBuffer& to = t.host(size);
    measure_copies(t, [&] { (void)t.api.memory_copy_d2h(0, to.data(), from.ptr, size); });
    t.expect(to, pattern, "the last copy");
}

HAL_CASE("perf.copy.d2d", clauses{"45079/T2.9", "46345/A.6 a"}, authority::A, needs{memory_io(), E::memory_copy_d2d},
         cls::medium, exclusive, sizes())
(Test& t) {
    const uint64_t size = size_of(t);
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, size);
    const DeviceBuffer& to = t.device(size);
    measure_copies(t, [&] { (void)t.api.memory_copy_d2d(0, to.ptr, from.ptr, size); });
    t.expect(to, pattern, "the last copy");
}

HAL_CASE("perf.copy.p2p", clauses{"45079/T2.10", "46345/A.6 a"}, authority::A,
         needs{memory_io(), E::memory_copy_p2p, devices(2)}, cls::medium, exclusive, sizes())
(Test& t) {
    const uint64_t size = size_of(t);
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, size, 0);
    const DeviceBuffer& to = t.device(size, 1);
    measure_copies(t, [&] { (void)t.api.memory_copy_p2p(1, to.ptr, 0, from.ptr, size); });
    t.expect(to, pattern, "the last copy");
}

HAL_CASE("perf.copy.async_h2d", clauses{"45079/T2.11", "46345/A.6 a"}, authority::A,
         needs{memory_io(), E::async_memory_copy_h2d, E::synchronize_stream}, cls::medium, exclusive, sizes(),
         over("host", {Value("pageable"),
                       Value("pinned", {need_entry(E::host_memory_allocate), need_entry(E::host_memory_deallocate)})}))
(Test& t) {
    const uint64_t size = size_of(t);
    const bool pinned = t.param("host") == "pinned";
    const Pattern pattern = t.pattern();
    void* source = pinned ? nullptr : t.host(size).data();
    if (pinned && !t.ok(t.api.host_memory_allocate(0, size, &source))) {
        return;
    }
    pattern.write(source, size);
    const DeviceBuffer& to = t.device(size);
    const hal_stream s = t.stream();
    measure_copies(
        t, [&] { (void)t.api.async_memory_copy_h2d(0, s, to.ptr, source, size); }, s);
    t.expect(to, pattern, "the last copy");
    if (pinned) {
        t.ok(t.api.host_memory_deallocate(0, source, size));
    }
}

HAL_CASE("perf.copy.async_d2d", clauses{"45079/T2.13", "46345/A.6 a"}, authority::A,
         needs{memory_io(), E::async_memory_copy_d2d, E::synchronize_stream}, cls::medium, exclusive, sizes())
(Test& t) {
    const uint64_t size = size_of(t);
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, size);
    const DeviceBuffer& to = t.device(size);
    const hal_stream s = t.stream();
    measure_copies(
        t, [&] { (void)t.api.async_memory_copy_d2d(0, s, to.ptr, from.ptr, size); }, s);
    t.expect(to, pattern, "the last copy");
}

}  // namespace
}  // namespace hal::conformance

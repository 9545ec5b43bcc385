// Table 2: page-locked host memory and unified memory. One list for both, because both are addresses of the host.
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

void check_host_access(Test& t, const HostKind& kind) {
    for (const uint64_t size : allocation_sizes) {
        const auto in = t.context("size", size);
        void* ptr = nullptr;
        t.ok(kind.allocate(size, &ptr));
        if (!t.check(ptr != nullptr && reinterpret_cast<uintptr_t>(ptr) % 256 == 0,
                     "an address, aligned to 256 bytes")) {
            continue;
        }
        const Pattern pattern = t.pattern();
        pattern.write(ptr, size);
        t.check(!compare(ptr, pattern, size), "the host reads what it wrote");
        t.ok(kind.release(ptr, size));
    }
}

void check_refusals(Test& t, const HostKind& kind) {
    void* ptr = &ptr;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return kind.allocate(0, &ptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return kind.allocate(256, nullptr); });
    for (const uint64_t size : overflowing_sizes) {
        const auto in = t.context("size", size);
        t.fails_any({HAL_ERROR_OUT_OF_HOST_MEMORY, HAL_ERROR_OUT_OF_DEVICE_MEMORY},
                    [&] { return kind.allocate(size, &ptr); });
    }
    t.check(ptr == &ptr, "the output is untouched by refusals");
    void* again = nullptr;
    t.ok(kind.allocate(300, &again), "a small block after the refusals");
    t.ok(kind.release(again, 300));
}

void check_release(Test& t, const HostKind& kind) {
    t.ok(kind.release(nullptr, 0), "null is released without effect");
    void* ptr = nullptr;
    t.ok(kind.allocate(1000, &ptr));
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return kind.release(static_cast<uint8_t*>(ptr) + 64, 0); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return kind.release(ptr, 999); });
    t.ok(kind.release(ptr, 1000));
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return kind.release(ptr, 1000); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return kind.release(&ptr, 0); });
}

HAL_CASE("45079.T2.host_memory_allocate.norm.writable_by_host", clauses{"45079/T2.3"}, authority::S,
         needs{E::host_memory_allocate, E::host_memory_deallocate})
(Test& t) {
    check_host_access(t, host_kind(t));
}
HAL_CASE("45079.T2.host_memory_allocate.err.refusals", clauses{"45079/T2.3"}, authority::A,
         needs{E::host_memory_allocate, E::host_memory_deallocate})
(Test& t) {
    check_refusals(t, host_kind(t));
}
HAL_CASE("45079.T2.host_memory_deallocate.norm.each_way", clauses{"45079/T2.4"}, authority::A,
         needs{E::host_memory_deallocate, E::host_memory_allocate})
(Test& t) {
    check_release(t, host_kind(t));
}

HAL_CASE("45079.T2.unified_memory_allocate.norm.writable_by_host", clauses{"45079/T2.5"}, authority::S,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate})
(Test& t) {
    check_host_access(t, unified_kind(t));
}
HAL_CASE("45079.T2.unified_memory_allocate.err.refusals", clauses{"45079/T2.5"}, authority::A,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate})
(Test& t) {
    check_refusals(t, unified_kind(t));
}
HAL_CASE("45079.T2.unified_memory_deallocate.norm.each_way", clauses{"45079/T2.6"}, authority::A,
         needs{E::unified_memory_deallocate, E::unified_memory_allocate})
(Test& t) {
    check_release(t, unified_kind(t));
}

HAL_CASE("45079.T2.host_memory_allocate.norm.usable_both_ways", clauses{"45079/T2.3"}, authority::D,
         needs{E::host_memory_allocate, E::host_memory_deallocate, memory_io()})
(Test& t) {
    constexpr uint64_t size = 100'003;
    void* ptr = nullptr;
    if (!t.ok(t.api.host_memory_allocate(0, size, &ptr))) {
        return;
    }
    const Pattern pattern = t.pattern();
    pattern.write(ptr, size);
    const DeviceBuffer& buffer = t.device(size);
    t.ok(t.api.memory_copy_h2d(0, buffer.ptr, ptr, size));
    t.expect(buffer, pattern, "data from page-locked memory");
    std::memset(ptr, poison, size);
    t.ok(t.api.memory_copy_d2h(0, ptr, buffer.ptr, size));
    t.check(!compare(ptr, pattern, size), "data back in page-locked memory");
    t.ok(t.api.host_memory_deallocate(0, ptr, size));
}

HAL_CASE("45079.T2.unified_memory_allocate.norm.pingpong", clauses{"45079/T2.5"}, authority::S,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate, memory_io()})
(Test& t) {
    constexpr uint64_t size = 4099;
    hal_dptr ptr = 0;
    if (!t.ok(t.api.unified_memory_allocate(0, size, &ptr))) {
        return;
    }
    for (int i = 0; i < 100; ++i) {
        const Pattern mine = t.pattern();
        const Pattern its = t.pattern();
        mine.write(reinterpret_cast<void*>(ptr), size);
        HostBuffer back(size);
        t.ok(t.api.memory_copy_d2h(0, back.data(), ptr, size));
        t.expect(back, mine, "the device reads what the host wrote");
        HostBuffer source(size);
        source.write(its);
        t.ok(t.api.memory_copy_h2d(0, ptr, source.data(), size));
        t.check(!compare(reinterpret_cast<const void*>(ptr), its, size), "the host reads what the device wrote");
    }
    t.ok(t.api.unified_memory_deallocate(0, ptr, size));
}

}  // namespace
}  // namespace hal::conformance

// memory_ext: what an address is, the caller's own memory registered, peers, trim and peak.
#include <sys/mman.h>

#include "struct_checks.hpp"

namespace hal::conformance {
namespace {

hal_memory_attributes attributes_of(Test& t, uint64_t address) {
    hal_memory_attributes out{};
    out.header.size = sizeof out;
    t.ok(t.api.get_memory_attributes(address, &out));
    return out;
}

HAL_CASE("hal.memory_ext.get_memory_attributes.norm.device", clauses{"45079/T2.1"}, authority::A,
         needs{E::get_memory_attributes, E::device_memory_allocate, E::device_memory_deallocate})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(dev, 1000, &ptr));
    for (const uint64_t offset : {0, 1, 999}) {
        const hal_memory_attributes out = attributes_of(t, ptr + offset);
        t.eq(HAL_MEMORY_DEVICE, out.memory_kind, "kind");
        t.eq(dev, out.device, "device");
        t.eq(ptr, out.base, "base");
        t.eq(uint64_t{1000}, out.size_bytes, "size that was asked for");
    }
    t.ok(t.api.device_memory_deallocate(dev, ptr, 1000));
    hal_memory_attributes out{};
    out.header.size = sizeof out;
    t.fails(HAL_ERROR_NOT_FOUND, [&] { return t.api.get_memory_attributes(ptr, &out); });
}

HAL_CASE("hal.memory_ext.get_memory_attributes.norm.host_and_unified", clauses{"45079/T2.3", "45079/T2.5"},
         authority::A,
         needs{E::get_memory_attributes, E::host_memory_allocate, E::host_memory_deallocate, E::unified_memory_allocate,
               E::unified_memory_deallocate})
(Test& t) {
    void* host = nullptr;
    hal_dptr unified = 0;
    t.ok(t.api.host_memory_allocate(0, 1000, &host));
    t.ok(t.api.unified_memory_allocate(0, 2000, &unified));
    const auto of_host = attributes_of(t, reinterpret_cast<uint64_t>(host) + 999);
    const auto of_unified = attributes_of(t, unified + 1999);
    t.eq(HAL_MEMORY_HOST, of_host.memory_kind, "kind of host memory");
    t.eq(reinterpret_cast<uint64_t>(host), of_host.base, "base of host memory");
    t.eq(HAL_MEMORY_UNIFIED, of_unified.memory_kind, "kind of unified memory");
    t.eq(uint64_t{2000}, of_unified.size_bytes, "size of unified memory");
    t.ok(t.api.host_memory_deallocate(0, host, 1000));
    t.ok(t.api.unified_memory_deallocate(0, unified, 2000));
}

HAL_CASE("hal.memory_ext.get_memory_attributes.err.unknown", clauses{"45079/T2.1"}, authority::A,
         needs{E::get_memory_attributes})
(Test& t) {
    hal_memory_attributes out{};
    out.header.size = sizeof out;
    int local = 0;
    for (const uint64_t address : {uint64_t{0}, uint64_t{1}, UINT64_MAX, reinterpret_cast<uint64_t>(&local)}) {
        t.fails(HAL_ERROR_NOT_FOUND, [&] { return t.api.get_memory_attributes(address, &out); });
    }
}

HAL_CASE("hal.memory_ext.get_memory_attributes.edge.struct_size", clauses{"45079/T2.1"}, authority::A,
         needs{E::get_memory_attributes, memory_io()})
(Test& t) {
    const hal_dptr ptr = t.device(100).ptr;
    const Query<hal_memory_attributes> query = [&](hal_memory_attributes* out) {
        return t.api.get_memory_attributes(ptr, out);
    };
    check_struct_sizes(t, query);
    check_struct_errors(t, query);
}

// ---- Registered host memory ----

HAL_CASE("hal.memory_ext.host_memory_register.norm.usable", clauses{"45079/T2.3"}, authority::A,
         needs{E::host_memory_register, E::host_memory_unregister, E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    constexpr uint64_t size = 100'003;
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, size);
    const DeviceBuffer& to = t.device(size);
    const hal_stream s = t.stream();
    t.ok(t.api.host_memory_register(0, source.data(), size));
    t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, source.data(), size));
    t.sync(s);
    t.expect(to, pattern, "data from registered memory");
    if (t.facts.has(E::get_memory_attributes)) {
        t.eq(HAL_MEMORY_HOST, attributes_of(t, reinterpret_cast<uint64_t>(source.data()) + 1).memory_kind, "kind");
    }
    t.ok(t.api.host_memory_unregister(0, source.data()));
    t.expect(source, pattern, "the caller's memory after it was unregistered");
}

HAL_CASE("hal.memory_ext.host_memory_register.err.refusals", clauses{"45079/T2.3"}, authority::A,
         needs{E::host_memory_register, E::host_memory_unregister})
(Test& t) {
    HostBuffer& buffer = t.host(8192);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.host_memory_register(0, nullptr, 4096); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.host_memory_register(0, buffer.data(), 0); });
    t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_OUT_OF_HOST_MEMORY},
                [&] { return t.api.host_memory_register(0, buffer.data(), UINT64_MAX - 63); });
    t.ok(t.api.host_memory_register(0, buffer.data(), 8192));
    t.fails(HAL_ERROR_ALREADY_EXISTS, [&] { return t.api.host_memory_register(0, buffer.data(), 8192); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.host_memory_unregister(0, buffer.data() + 64); });
    t.ok(t.api.host_memory_unregister(0, buffer.data()));
}

HAL_CASE("hal.memory_ext.host_memory_unregister.norm.again", clauses{"45079/T2.4"}, authority::A,
         needs{E::host_memory_unregister, E::host_memory_register})
(Test& t) {
    HostBuffer& buffer = t.host(8192);
    for (int i = 0; i < 100; ++i) {
        t.ok(t.api.host_memory_register(0, buffer.data(), 8192));
        t.ok(t.api.host_memory_unregister(0, buffer.data()));
    }
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.host_memory_unregister(0, buffer.data()); });
}

HAL_CASE("hal.memory_ext.host_memory_unregister.err.unknown", clauses{"45079/T2.4"}, authority::A,
         needs{E::host_memory_unregister})
(Test& t) {
    HostBuffer& buffer = t.host(64);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.host_memory_unregister(0, buffer.data()); });
    t.fails_any({HAL_ERROR_INVALID_HANDLE, HAL_ERROR_INVALID_ARGUMENT},
                [&] { return t.api.host_memory_unregister(0, nullptr); });
}

// ---- Peers ----

HAL_CASE("hal.memory_ext.peer_access_query.norm.answers", clauses{"45079/T2.10"}, authority::A,
         needs{E::peer_access_query, devices(2)})
(Test& t) {
    for (hal_dev a = 0; a < t.facts.device_count; ++a) {
        for (hal_dev b = 0; b < t.facts.device_count; ++b) {
            int32_t access = INT32_MIN;
            t.ok(t.api.peer_access_query(a, b, &access));
            t.check(access == 0 || access == 1, "0 or 1");
        }
    }
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.peer_access_query(0, 1, nullptr); });
}

HAL_CASE("hal.memory_ext.peer_access_enable.norm.pair", clauses{"45079/T2.10"}, authority::A,
         needs{E::peer_access_enable, E::peer_access_disable, E::peer_access_query, devices(2)})
(Test& t) {
    int32_t access = 0;
    t.ok(t.api.peer_access_query(0, 1, &access));
    if (access == 0) {
        t.fails(HAL_ERROR_UNSUPPORTED, [&] { return t.api.peer_access_enable(0, 1); });
        return;
    }
    for (int i = 0; i < 3; ++i) {
        t.ok(t.api.peer_access_enable(0, 1));
        t.ok(t.api.peer_access_disable(0, 1));
    }
}

HAL_CASE("hal.memory_ext.peer_access_disable.norm.copies_go_on", clauses{"45079/T2.10"}, authority::A,
         needs{E::peer_access_disable, E::peer_access_enable, E::peer_access_query, E::memory_copy_p2p, memory_io(),
               devices(2)})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 5000, 0);
    const DeviceBuffer& to = t.device(5000, 1);
    int32_t access = 0;
    t.ok(t.api.peer_access_query(0, 1, &access));
    if (access == 1) {
        t.ok(t.api.peer_access_enable(0, 1));
        t.ok(t.api.peer_access_disable(0, 1));
    }
    t.ok(t.api.memory_copy_p2p(1, to.ptr, 0, from.ptr, 5000));
    t.expect(to, pattern, "a copy needs no peer access");
}

// ---- Trim and peak ----

HAL_CASE("hal.memory_ext.memory_trim.norm.keeps_data", clauses{"45079/T2.16"}, authority::A,
         needs{E::memory_trim, memory_io(), E::device_memory_stats})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& kept = t.device(pattern, 100'003);
    DeviceBuffer& gone = t.device(pattern, 8U << 20U);
    t.release(gone);
    for (const uint64_t keep : {UINT64_MAX, uint64_t{1} << 20U, uint64_t{0}}) {
        t.ok(t.api.memory_trim(0, keep));
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        t.ok(t.api.device_memory_stats(0, &stats));
        t.le(stats.cached_bytes, keep, "cached bytes after the trim");
        t.expect(kept, pattern, "live data after the trim");
    }
    t.expect(t.device(pattern, 8U << 20U), pattern, "new data after the trim");
}

HAL_CASE("hal.memory_ext.memory_reset_peak.norm.to_used", clauses{"45079/T2.16"}, authority::A,
         needs{E::memory_reset_peak, E::device_memory_allocate, E::device_memory_deallocate, E::device_memory_stats})
(Test& t) {
    hal_dptr ptr = 0;
    hal_dptr kept = 0;  // the peak falls to what is used, not to nothing
    t.ok(t.api.device_memory_allocate(0, 1U << 20U, &kept));
    t.ok(t.api.device_memory_allocate(0, 4U << 20U, &ptr));
    t.ok(t.api.device_memory_deallocate(0, ptr, 0));
    hal_memory_stats stats{};
    stats.header.size = sizeof stats;
    t.ok(t.api.device_memory_stats(0, &stats));
    t.le(uint64_t{4U << 20U}, stats.peak_bytes, "peak before");
    t.ok(t.api.memory_reset_peak(0));
    t.ok(t.api.device_memory_stats(0, &stats));
    t.eq(stats.used_bytes, stats.peak_bytes, "peak after");
    t.le(uint64_t{1U << 20U}, stats.peak_bytes, "the block that lives");
    t.ok(t.api.device_memory_deallocate(0, kept, 0));
}

}  // namespace
}  // namespace hal::conformance

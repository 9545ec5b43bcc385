// Table 2: copies at the ends of pages, of nothing, from nothing, and beyond an allocation.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t edge_sizes[] = {1, 3, 63, 64, 65, 4095, 4096, 4097, 70'001, (2U << 20U) + 9};

HAL_CASE("45079.T2.memory_copy_h2d.edge.source_at_page_end", clauses{"45079/T2.7"}, authority::D,
         needs{E::memory_copy_h2d, memory_io()})
(Test& t) {
    for (const uint64_t size : edge_sizes) {
        const auto in = t.context("size", size);
        const PageEnd page(size);
        const DeviceBuffer& to = t.device(size);
        for (uint8_t* source : {page.at_end(), page.at_begin()}) {
            const Pattern pattern = t.pattern();
            pattern.write(source, size);
            t.ok(t.api.memory_copy_h2d(0, to.ptr, source, size));
            t.expect(to, pattern, "data from the end of a page");
        }
    }
}

HAL_CASE("45079.T2.memory_copy_h2d.edge.read_only_source", clauses{"45079/T2.7"}, authority::D,
         needs{E::memory_copy_h2d, memory_io()})
(Test& t) {
    const PageEnd page(5000);
    const Pattern pattern = t.pattern();
    pattern.write(page.at_end(), 5000);
    page.make_read_only();
    const DeviceBuffer& to = t.device(5000);
    t.ok(t.api.memory_copy_h2d(0, to.ptr, page.at_end(), 5000));
    t.expect(to, pattern, "data from a read-only page");
}

HAL_CASE("45079.T2.memory_copy_d2h.edge.destination_at_page_end", clauses{"45079/T2.8"}, authority::D,
         needs{E::memory_copy_d2h, memory_io()})
(Test& t) {
    for (const uint64_t size : edge_sizes) {
        const auto in = t.context("size", size);
        const PageEnd page(size);
        const Pattern pattern = t.pattern();
        const DeviceBuffer& from = t.device(pattern, size);
        for (uint8_t* target : {page.at_end(), page.at_begin()}) {
            std::memset(target, poison, size);
            t.ok(t.api.memory_copy_d2h(0, target, from.ptr, size));
            t.check(!compare(target, pattern, size), "data at the end of a page");
        }
    }
}

HAL_CASE("45079.T2.async_memory_copy_h2d.edge.page_end", clauses{"45079/T2.11"}, authority::D,
         needs{E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    const hal_stream s = t.stream();
    for (const uint64_t size : edge_sizes) {
        const auto in = t.context("size", size);
        const PageEnd page(size);
        const Pattern pattern = t.pattern();
        pattern.write(page.at_end(), size);
        page.make_read_only();
        const DeviceBuffer& to = t.device(size);
        t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, page.at_end(), size));
        t.sync(s);
        t.expect(to, pattern, "data from the end of a page");
    }
}

HAL_CASE("45079.T2.async_memory_copy_d2h.edge.page_end", clauses{"45079/T2.12"}, authority::D,
         needs{E::async_memory_copy_d2h, memory_io()})
(Test& t) {
    const hal_stream s = t.stream();
    for (const uint64_t size : edge_sizes) {
        const auto in = t.context("size", size);
        const PageEnd page(size);
        const Pattern pattern = t.pattern();
        const DeviceBuffer& from = t.device(pattern, size);
        t.ok(t.api.async_memory_copy_d2h(0, s, page.at_end(), from.ptr, size));
        t.sync(s);
        t.check(!compare(page.at_end(), pattern, size), "data at the end of a page");
    }
}

// ---- Nothing: 0 bytes succeed with any pointers and do nothing ----

#define ZERO_BYTES(id, clause, entry, ...)                                    \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry, memory_io()}) \
    (Test & t) {                                                              \
        const Pattern pattern = t.pattern();                                  \
        const DeviceBuffer& buffer = t.device(pattern, 512);                  \
        HostBuffer& host = t.host(512);                                       \
        const hal_stream s = t.stream();                                      \
        for (const bool null : {false, true}) {                               \
            const hal_dptr ptr = null ? 0 : buffer.ptr;                       \
            [[maybe_unused]] uint8_t* memory = null ? nullptr : host.data();  \
            t.ok(t.api.entry(__VA_ARGS__));                                   \
            t.sync(s);                                                        \
        }                                                                     \
        t.expect(buffer, pattern, "device memory");                           \
        t.expect(host, poison, "host memory");                                \
    }

ZERO_BYTES("45079.T2.memory_copy_h2d.edge.zero", "45079/T2.7", memory_copy_h2d, 0, ptr, memory, 0)
ZERO_BYTES("45079.T2.memory_copy_d2h.edge.zero", "45079/T2.8", memory_copy_d2h, 0, memory, ptr, 0)
ZERO_BYTES("45079.T2.memory_copy_d2d.edge.zero", "45079/T2.9", memory_copy_d2d, 0, ptr, ptr, 0)
ZERO_BYTES("45079.T2.memory_copy_p2p.edge.zero", "45079/T2.10", memory_copy_p2p, 0, ptr, 0, ptr, 0)
ZERO_BYTES("45079.T2.device_memory_set.edge.zero", "45079/T2.15", device_memory_set, 0, ptr, 0xFF, 0)
ZERO_BYTES("45079.T2.async_memory_copy_h2d.edge.zero", "45079/T2.11", async_memory_copy_h2d, 0, s, ptr, memory, 0)
ZERO_BYTES("45079.T2.async_memory_copy_d2h.edge.zero", "45079/T2.12", async_memory_copy_d2h, 0, s, memory, ptr, 0)
ZERO_BYTES("45079.T2.async_memory_copy_d2d.edge.zero", "45079/T2.13", async_memory_copy_d2d, 0, s, ptr, ptr, 0)
ZERO_BYTES("45079.T2.async_memory_copy_p2p.edge.zero", "45079/T2.14", async_memory_copy_p2p, 0, ptr, 0, ptr, s, 0)
ZERO_BYTES("hal.memory_ext.async_memory_set.edge.zero", "46345/T5", async_memory_set, 0, s, ptr, 0xFF, 0)

// ---- Null pointers with a size, and ranges beyond an allocation where the plug-in knows its allocations ----

#define REFUSES_NULL(id, clause, entry, first, second)                                                           \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry, memory_io()})                                    \
    (Test & t) {                                                                                                 \
        const DeviceBuffer& buffer = t.device(512);                                                              \
        [[maybe_unused]] uint8_t* host = t.host(512).data();                                                     \
        [[maybe_unused]] const hal_stream s = t.stream();                                                        \
        [[maybe_unused]] const hal_dptr ptr = buffer.ptr;                                                        \
        t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_INVALID_HANDLE}, [&] { return t.api.entry first; });  \
        t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_INVALID_HANDLE}, [&] { return t.api.entry second; }); \
        t.expect(buffer, poison, "device memory after the refusals");                                            \
    }

REFUSES_NULL("45079.T2.memory_copy_h2d.err.null_ptr", "45079/T2.7", memory_copy_h2d, (0, 0, host, 512),
             (0, ptr, nullptr, 512))
REFUSES_NULL("45079.T2.memory_copy_d2h.err.null_ptr", "45079/T2.8", memory_copy_d2h, (0, nullptr, ptr, 512),
             (0, host, 0, 512))
REFUSES_NULL("45079.T2.memory_copy_d2d.err.null_ptr", "45079/T2.9", memory_copy_d2d, (0, 0, ptr, 512), (0, ptr, 0, 512))
REFUSES_NULL("45079.T2.memory_copy_p2p.err.null_ptr", "45079/T2.10", memory_copy_p2p, (0, 0, 0, ptr, 512),
             (0, ptr, 0, 0, 512))
REFUSES_NULL("45079.T2.device_memory_set.err.null_ptr", "45079/T2.15", device_memory_set, (0, 0, 1, 512),
             (0, 0, 1, UINT64_MAX))
REFUSES_NULL("45079.T2.async_memory_copy_h2d.err.null_ptr", "45079/T2.11", async_memory_copy_h2d, (0, s, 0, host, 512),
             (0, s, ptr, nullptr, 512))
REFUSES_NULL("45079.T2.async_memory_copy_d2h.err.null_ptr", "45079/T2.12", async_memory_copy_d2h,
             (0, s, nullptr, ptr, 512), (0, s, host, 0, 512))
REFUSES_NULL("45079.T2.async_memory_copy_d2d.err.null_ptr", "45079/T2.13", async_memory_copy_d2d, (0, s, 0, ptr, 512),
             (0, s, ptr, 0, 512))
REFUSES_NULL("45079.T2.async_memory_copy_p2p.err.null_ptr", "45079/T2.14", async_memory_copy_p2p,
             (0, 0, 0, ptr, s, 512), (0, ptr, 0, 0, s, 512))
REFUSES_NULL("hal.memory_ext.async_memory_set.err.null_ptr", "46345/T5", async_memory_set, (0, s, 0, 1, 512),
             (0, s, 0, 1, UINT64_MAX))

// get_memory_attributes shows that the plug-in knows the extent of its allocations. `ptr` is the base of 1000 bytes.
#define REFUSES_RANGE(id, clause, entry, beyond, wrapping)                                              \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry, E::get_memory_attributes, memory_io()}) \
    (Test & t) {                                                                                        \
        hal_dptr ptr = 0;                                                                               \
        t.ok(t.api.device_memory_allocate(0, 1000, &ptr));                                              \
        [[maybe_unused]] const hal_dptr other = t.device(8192).ptr;                                     \
        [[maybe_unused]] uint8_t* host = t.host(8192).data();                                           \
        [[maybe_unused]] const hal_stream s = t.stream();                                               \
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.entry beyond; });                        \
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.entry wrapping; });                      \
        t.ok(t.api.device_memory_deallocate(0, ptr, 1000));                                             \
    }

REFUSES_RANGE("45079.T2.memory_copy_h2d.err.range", "45079/T2.7", memory_copy_h2d, (0, ptr + 1, host, 1000),
              (0, ptr + 8, host, UINT64_MAX - 7))
REFUSES_RANGE("45079.T2.memory_copy_d2h.err.range", "45079/T2.8", memory_copy_d2h, (0, host, ptr + 1, 1000),
              (0, host, ptr + 8, UINT64_MAX - 7))
REFUSES_RANGE("45079.T2.memory_copy_d2d.err.range", "45079/T2.9", memory_copy_d2d, (0, ptr + 1, other, 1000),
              (0, other, ptr + 1, 1000))
REFUSES_RANGE("45079.T2.memory_copy_p2p.err.range", "45079/T2.10", memory_copy_p2p, (0, ptr + 1, 0, other, 1000),
              (0, other, 0, ptr + 1, 1000))
REFUSES_RANGE("45079.T2.device_memory_set.err.range", "45079/T2.15", device_memory_set, (0, ptr + 1, 7, 1000),
              (0, ptr + 8, 7, UINT64_MAX - 7))
REFUSES_RANGE("45079.T2.async_memory_copy_h2d.err.range", "45079/T2.11", async_memory_copy_h2d,
              (0, s, ptr + 1, host, 1000), (0, s, ptr + 8, host, UINT64_MAX - 7))
REFUSES_RANGE("45079.T2.async_memory_copy_d2h.err.range", "45079/T2.12", async_memory_copy_d2h,
              (0, s, host, ptr + 1, 1000), (0, s, host, ptr + 8, UINT64_MAX - 7))
REFUSES_RANGE("45079.T2.async_memory_copy_d2d.err.range", "45079/T2.13", async_memory_copy_d2d,
              (0, s, ptr + 1, other, 1000), (0, s, other, ptr + 1, 1000))
REFUSES_RANGE("45079.T2.async_memory_copy_p2p.err.range", "45079/T2.14", async_memory_copy_p2p,
              (0, ptr + 1, 0, other, s, 1000), (0, other, 0, ptr + 1, s, 1000))
REFUSES_RANGE("hal.memory_ext.async_memory_set.err.range", "46345/T5", async_memory_set, (0, s, ptr + 1, 7, 1000),
              (0, s, ptr + 8, 7, UINT64_MAX - 7))

}  // namespace
}  // namespace hal::conformance

// Table 2: usage, and the sizes that a caching allocator on top asks for.
#include <array>

#include "memory_checks.hpp"
#include "struct_checks.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t block = 4U << 20U;

HAL_CASE("45079.T2.device_memory_stats.norm.free_le_total", clauses{"45079/T2.16"}, authority::S,
         needs{E::device_memory_stats})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const hal_memory_stats stats = stats_of(t, dev);
        t.check(stats.total_bytes > 0, "there is memory");
        t.le(stats.free_bytes, stats.total_bytes, "free bytes");
        t.le(stats.free_bytes + stats.used_bytes, stats.total_bytes, "free and used bytes");
        t.le(stats.used_bytes, stats.peak_bytes, "used bytes and their peak");
    }
}

HAL_CASE("45079.T2.device_memory_stats.norm.falls_and_restores", clauses{"45079/T2.16", "46345/A6.c"}, authority::S,
         needs{E::device_memory_stats, blocks()})
(Test& t) {
    const hal_memory_stats before = stats_of(t);
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(0, block, &ptr));
    const hal_memory_stats during = stats_of(t);
    t.le(during.free_bytes + block, before.free_bytes, "free bytes with a block in use");
    t.le(before.used_bytes + block, during.used_bytes, "used bytes with a block in use");
    t.eq(before.live_allocations + 1, during.live_allocations, "live allocations");
    t.eq(before.total_bytes, during.total_bytes, "total bytes");
    t.ok(t.api.device_memory_deallocate(0, ptr, block));
    const hal_memory_stats after = stats_of(t);
    t.eq(before.used_bytes, after.used_bytes, "used bytes after the release");
    t.eq(before.live_allocations, after.live_allocations, "live allocations after the release");
    t.le(before.free_bytes, after.free_bytes, "free bytes before, and after the release");
    t.le(before.used_bytes + block, after.peak_bytes, "the peak remembers the block");
}

HAL_CASE("45079.T2.device_memory_stats.norm.each_device_separate", clauses{"45079/T2.16"}, authority::D,
         needs{E::device_memory_stats, blocks(), devices(2)})
(Test& t) {
    const hal_memory_stats other = stats_of(t, 1);
    const hal_memory_stats before = stats_of(t, 0);
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(0, block, &ptr));
    t.eq(other.used_bytes, stats_of(t, 1).used_bytes, "used bytes of the other device");
    t.le(before.used_bytes + block, stats_of(t, 0).used_bytes, "used bytes of the device");
    t.ok(t.api.device_memory_deallocate(0, ptr, 0));
}

// What is granted in all never passes the total, whatever the sizes.
HAL_CASE("45079.T2.device_memory_stats.edge.limit_holds", clauses{"45079/T2.16", "45079/T2.1"}, authority::D,
         needs{E::device_memory_stats, blocks()})
(Test& t) {
    const uint64_t total = stats_of(t).total_bytes;
    const uint64_t part = total / 16 + 12'345;
    std::vector<hal_dptr> live;
    uint64_t granted = 0;
    hal_status status = HAL_OK;
    while (status == HAL_OK && live.size() < 20) {
        hal_dptr ptr = 0;
        status = t.api.device_memory_allocate(0, part, &ptr);
        if (status == HAL_OK) {
            live.push_back(ptr);
            granted += part;
        }
    }
    t.eq(HAL_ERROR_OUT_OF_DEVICE_MEMORY, status, "status at the end of the memory");
    t.le(granted, total, "bytes granted in all");
    const hal_memory_stats full = stats_of(t);
    t.le(full.free_bytes + full.used_bytes, full.total_bytes, "free and used bytes when full");
    for (const hal_dptr ptr : live) {
        t.ok(t.api.device_memory_deallocate(0, ptr, part));
    }
    t.eq(uint64_t{0}, stats_of(t).live_allocations, "live allocations after all were released");
}

HAL_CASE("45079.T2.device_memory_stats.conc.reader", clauses{"45079/T2.16"}, authority::D,
         needs{E::device_memory_stats, blocks(), free_threads})
(Test& t) {
    // Usage rises and falls until the reader has looked often enough.
    constexpr int enough = 500;
    std::atomic<int> looks{0};
    std::atomic<int> running{3};
    t.threads(4, [&](int thread) {
        if (thread == 0) {
            while (running > 0) {
                const hal_memory_stats stats = stats_of(t);
                t.le(stats.free_bytes + stats.used_bytes, stats.total_bytes, "free and used bytes in a storm");
                ++looks;
            }
            return;
        }
        std::array<hal_dptr, 8> live{};
        for (uint64_t i = 0; i < 1000 || (looks < enough && i < 100'000); ++i) {
            hal_dptr& ptr = live[i % live.size()];
            t.ok(t.api.device_memory_deallocate(0, ptr, 0));
            t.ok(t.api.device_memory_allocate(0, 1 + (i * 7919) % 100'000, &ptr));
        }
        for (const hal_dptr ptr : live) {
            t.ok(t.api.device_memory_deallocate(0, ptr, 0));
        }
        --running;
    });
}

HAL_CASE("45079.T2.device_memory_stats.edge.struct_size", clauses{"45079/T2.16"}, authority::A,
         needs{E::device_memory_stats})
(Test& t) {
    check_struct_sizes<hal_memory_stats>(t, [&](hal_memory_stats* out) { return t.api.device_memory_stats(0, out); });
}

HAL_CASE("45079.T2.device_memory_stats.err.null_size_chain", clauses{"45079/T2.16"}, authority::A,
         needs{E::device_memory_stats})
(Test& t) {
    check_struct_errors<hal_memory_stats>(t, [&](hal_memory_stats* out) { return t.api.device_memory_stats(0, out); });
}

// ---- Sizes ----

#define SIZE_ENTRY(id_norm, clause, entry)                            \
    HAL_CASE(id_norm, clauses{clause}, authority::S, needs{E::entry}) \
    (Test & t) {                                                      \
        for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {    \
            uint64_t first = UINT64_MAX;                              \
            uint64_t second = 0;                                      \
            t.ok(t.api.entry(dev, &first));                           \
            t.ok(t.api.entry(dev, &second));                          \
            t.check(first != UINT64_MAX, "the output was written");   \
            t.eq(first, second, "the same size again");               \
        }                                                             \
    }

SIZE_ENTRY("45079.T2.device_min_chunk_size.norm.stable", "45079/T2.17", device_min_chunk_size)
SIZE_ENTRY("45079.T2.device_max_chunk_size.norm.stable", "45079/T2.18", device_max_chunk_size)
SIZE_ENTRY("45079.T2.device_max_alloc_size.norm.stable", "45079/T2.19", device_max_alloc_size)
SIZE_ENTRY("45079.T2.device_extra_padding_size.norm.stable", "45079/T2.20", device_extra_padding_size)
SIZE_ENTRY("45079.T2.device_init_alloc_size.norm.stable", "45079/T2.21", device_init_alloc_size)
SIZE_ENTRY("45079.T2.device_realloc_size.norm.stable", "45079/T2.22", device_realloc_size)

HAL_CASE("45079.T2.device_min_chunk_size.norm.order", clauses{"45079/T2.17", "45079/T2.18", "45079/T2.19"},
         authority::D,
         needs{E::device_min_chunk_size, E::device_max_chunk_size, E::device_max_alloc_size, E::device_init_alloc_size,
               E::device_realloc_size, E::device_memory_stats})
(Test& t) {
    uint64_t low = 0;
    uint64_t high = 0;
    uint64_t all = 0;
    uint64_t first = 0;
    uint64_t later = 0;
    t.ok(t.api.device_min_chunk_size(0, &low));
    t.ok(t.api.device_max_chunk_size(0, &high));
    t.ok(t.api.device_max_alloc_size(0, &all));
    t.ok(t.api.device_init_alloc_size(0, &first));
    t.ok(t.api.device_realloc_size(0, &later));
    t.check(low > 0 && (low & (low - 1)) == 0, "the smallest block is a power of two");
    t.le(low, first, "smallest block, first allocation");
    t.le(first, high, "first allocation, largest block");
    t.le(low, later, "smallest block, later allocations");
    t.le(later, high, "later allocations, largest block");
    t.le(high, all, "largest block, all allocations");
    t.le(all, stats_of(t).total_bytes, "all allocations, total");
}

HAL_CASE("45079.T2.device_max_alloc_size.edge.above_refused_cleanly", clauses{"45079/T2.19"}, authority::A,
         needs{E::device_max_alloc_size, blocks()})
(Test& t) {
    uint64_t all = 0;
    t.ok(t.api.device_max_alloc_size(0, &all));
    hal_dptr ptr = 77;
    t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY, [&] { return t.api.device_memory_allocate(0, all + 1, &ptr); });
    t.eq(hal_dptr{77}, ptr, "the output after the refusal");
    t.ok(t.api.device_memory_allocate(0, 4096, &ptr), "a small block after the refusal");
    t.ok(t.api.device_memory_deallocate(0, ptr, 4096));
}

}  // namespace
}  // namespace hal::conformance

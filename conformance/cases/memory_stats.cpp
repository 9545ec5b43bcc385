// Table 2: usage, and the sizes that a caching allocator on top asks for, each on its own.
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t block = 16U << 20U;
constexpr uint64_t large_block = 64U << 20U;

HAL_CASE("45079.T2.device_memory_stats.norm.total_positive", clauses{"45079/T2.16"}, authority::S,
         needs{E::device_memory_stats})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.check(stats_of(t, dev).total_bytes > 0, "the device has memory");
    }
}

HAL_CASE("45079.T2.device_memory_stats.norm.falls_by_at_least", clauses{"45079/T2.16"}, authority::S,
         needs{E::device_memory_stats, blocks()}, exclusive, over("size", {"16mi", Value("64mi", {device_memory(96)})}))
(Test& t) {
    const uint64_t size = t.param("size") == "16mi" ? block : large_block;
    const hal_memory_stats before = stats_of(t);
    hal_dptr ptr = 0;
    if (!t.ok(t.api.device_memory_allocate(0, size, &ptr))) {
        return;
    }
    const hal_memory_stats during = stats_of(t);
    t.le(during.free_bytes + size, before.free_bytes, "free bytes with the block, and the block");
    t.le(before.used_bytes + size, during.used_bytes, "used bytes before, and the block");
    t.ok(t.api.device_memory_deallocate(0, ptr, size));
}

HAL_CASE("45079.T2.device_memory_stats.norm.restores", clauses{"45079/T2.16", "46345/A6.c"}, authority::S,
         needs{E::device_memory_stats, blocks()}, exclusive)
(Test& t) {
    const hal_memory_stats before = stats_of(t);
    for (int i = 0; i < 10; ++i) {
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, block, &ptr));
        t.ok(t.api.device_memory_deallocate(0, ptr, block));
    }
    const hal_memory_stats after = stats_of(t);
    t.eq(before.used_bytes, after.used_bytes, "used bytes after the release");
    t.le(before.free_bytes, after.free_bytes, "free bytes before, and after the release");
}

HAL_CASE("45079.T2.device_memory_stats.norm.total_constant", clauses{"45079/T2.16"}, authority::D,
         needs{E::device_memory_stats, blocks()})
(Test& t) {
    const uint64_t total = stats_of(t).total_bytes;
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(0, block, &ptr));
    t.eq(total, stats_of(t).total_bytes, "total with a block in use");
    t.ok(t.api.device_memory_deallocate(0, ptr, block));
    t.eq(total, stats_of(t).total_bytes, "total after the release");
}

HAL_CASE("45079.T2.device_memory_stats.norm.peak_monotone", clauses{"45079/T2.16"}, authority::A,
         needs{E::device_memory_stats, blocks()}, exclusive)
(Test& t) {
    uint64_t peak = stats_of(t).peak_bytes;
    for (const uint64_t size : {block / 4, block, block / 2, uint64_t{1000}}) {
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, size, &ptr));
        const hal_memory_stats during = stats_of(t);
        t.le(peak, during.peak_bytes, "the peak before, and now");
        t.le(during.used_bytes, during.peak_bytes, "used bytes and their peak");
        t.ok(t.api.device_memory_deallocate(0, ptr, size));
        t.le(during.peak_bytes, stats_of(t).peak_bytes, "the peak, and after the release");
        peak = during.peak_bytes;
    }
}

HAL_CASE("45079.T2.device_memory_stats.norm.live_allocs_exact", clauses{"45079/T2.16"}, authority::A,
         needs{E::device_memory_stats, blocks()}, exclusive)
(Test& t) {
    // The instance is new: nobody has allocated yet.
    const uint64_t before = 0;
    t.eq(before, stats_of(t).live_allocations, "live allocations of a new instance");
    std::vector<hal_dptr> live(50);
    for (size_t i = 0; i < live.size(); ++i) {
        t.ok(t.api.device_memory_allocate(0, 100 + i, &live[i]));
        t.eq(before + i + 1, stats_of(t).live_allocations, "live allocations");
    }
    for (size_t i = live.size(); i > 0; --i) {
        t.ok(t.api.device_memory_deallocate(0, live[i - 1], 0));
        t.eq(before + i - 1, stats_of(t).live_allocations, "live allocations");
    }
}

// The second instance stands for another process where the driver counts for all of them.
HAL_CASE("45079.T2.device_memory_stats.norm.other_process_visible", clauses{"45079/T2.16"}, authority::Q,
         needs{E::device_memory_stats, blocks()}, exclusive)
(Test& t) {
    const auto other = t.another();
    t.ok(other->initialize());
    const hal_memory_stats before = stats_of(t);
    hal_dptr ptr = 0;
    t.ok(other->api().device_memory_allocate(0, block, &ptr));
    const hal_memory_stats during = stats_of(t);
    t.metric("allocations of other users are seen", during.free_bytes + block <= before.free_bytes ? 1 : 0, "");
    t.ok(other->api().device_memory_deallocate(0, ptr, block));
    t.ok(other->finalize());
}

HAL_CASE("45079.T2.device_memory_stats.edge.after_oom", clauses{"45079/T2.16"}, authority::D,
         needs{E::device_memory_stats, blocks()}, exclusive)
(Test& t) {
    const hal_memory_stats before = stats_of(t);
    hal_dptr ptr = 0;
    for (int i = 0; i < 5; ++i) {
        t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY,
                [&] { return t.api.device_memory_allocate(0, before.total_bytes + 1, &ptr); });
    }
    const hal_memory_stats after = stats_of(t);
    t.eq(before.used_bytes, after.used_bytes, "used bytes after the refusals");
    t.eq(before.live_allocations, after.live_allocations, "live allocations after the refusals");
    t.le(after.free_bytes + after.used_bytes, after.total_bytes, "free and used bytes after the refusals");
}

// ---- Sizes ----

template <class Entry>
uint64_t size_of(Test& t, const Entry& entry, hal_dev dev = 0) {
    uint64_t size = UINT64_MAX;
    t.ok(entry(dev, &size));
    return size;
}

#define SIZE(row, entry, id, rights, call, ...)                                                          \
    HAL_CASE("45079.T2." #entry "." id, clauses{"45079/T2." #row}, rights, needs{E::entry, __VA_ARGS__}) \
    (Test & t) {                                                                                         \
        call;                                                                                            \
    }

SIZE(17, device_min_chunk_size, "norm.positive_pow2", authority::S, {
    const uint64_t least = size_of(t, t.api.device_min_chunk_size);
    t.check(least > 0, "the smallest chunk is not 0");
    t.quality((least & (least - 1)) == 0, "the smallest chunk is a power of two");
})
SIZE(17, device_min_chunk_size, "norm.le_max", authority::D,
     t.le(size_of(t, t.api.device_min_chunk_size), size_of(t, t.api.device_max_chunk_size), "smallest, largest chunk"),
     E::device_max_chunk_size)
SIZE(
    17, device_min_chunk_size, "norm.granularity_seen", authority::Q,
    {
        hal_dptr ptrs[2] = {};
        const uint64_t before = stats_of(t).used_bytes;
        t.ok(t.api.device_memory_allocate(0, 1, &ptrs[0]));
        const uint64_t step = stats_of(t).used_bytes - before;
        t.metric("bytes in use for an allocation of one byte", static_cast<double>(step), "B");
        t.eq(uint64_t{0}, step % size_of(t, t.api.device_min_chunk_size),
             "remainder of the step by the smallest chunk");
        t.ok(t.api.device_memory_deallocate(0, ptrs[0], 1));
    },
    E::device_memory_stats, blocks())

SIZE(18, device_max_chunk_size, "norm.ge_min", authority::D,
     t.le(size_of(t, t.api.device_min_chunk_size), size_of(t, t.api.device_max_chunk_size), "smallest, largest chunk"),
     E::device_min_chunk_size)
SIZE(18, device_max_chunk_size, "norm.le_total", authority::D,
     t.le(size_of(t, t.api.device_max_chunk_size), stats_of(t).total_bytes, "largest chunk, total"),
     E::device_memory_stats)
SIZE(
    18, device_max_chunk_size, "norm.tried", authority::Q,
    {
        const uint64_t most = size_of(t, t.api.device_max_chunk_size);
        hal_dptr ptr = 0;
        const bool granted = t.api.device_memory_allocate(0, most, &ptr) == HAL_OK;
        t.metric("a block of the largest chunk is granted", granted ? 1 : 0, "");
        t.check(granted || ptr == 0, "a refusal leaves the output alone");
        if (granted) {
            t.ok(t.api.device_memory_deallocate(0, ptr, most));
        }
    },
    blocks())

// Larger than is worth asking for: granted or refused, never a wrong block.
void check_above(Test& t, uint64_t size) {
    hal_dptr ptr = 77;
    const hal_status status = t.api.device_memory_allocate(0, size, &ptr);
    if (status == HAL_OK) {
        t.check(ptr != 77 && ptr != 0, "an address");
        t.ok(t.api.device_memory_deallocate(0, ptr, size));
    } else {
        t.eq(HAL_ERROR_OUT_OF_DEVICE_MEMORY, status, "the refusal");
        t.eq(hal_dptr{77}, ptr, "the output after the refusal");
    }
    t.ok(t.api.device_memory_allocate(0, 300, &ptr), "a small block afterwards");
    t.ok(t.api.device_memory_deallocate(0, ptr, 300));
}

SIZE(18, device_max_chunk_size, "norm.above_refused_cleanly", authority::A,
     check_above(t, size_of(t, t.api.device_max_chunk_size) + 1), blocks())

SIZE(19, device_max_alloc_size, "norm.le_total", authority::D,
     t.le(size_of(t, t.api.device_max_alloc_size), stats_of(t).total_bytes, "most that can be allocated, total"),
     E::device_memory_stats)
SIZE(
    19, device_max_alloc_size, "norm.above_refused_cleanly", authority::A,
    {
        hal_dptr ptr = 77;
        const uint64_t most = size_of(t, t.api.device_max_alloc_size);
        t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY, [&] { return t.api.device_memory_allocate(0, most + 1, &ptr); });
        t.eq(hal_dptr{77}, ptr, "the output after the refusal");
        t.ok(t.api.device_memory_allocate(0, 300, &ptr), "a small block after the refusal");
        t.ok(t.api.device_memory_deallocate(0, ptr, 300));
    },
    blocks())

// Halving the interval never finds a block above what the plug-in says.
SIZE(
    19, device_max_alloc_size, "norm.ge_largest_granted", authority::D,
    {
        const uint64_t said = size_of(t, t.api.device_max_alloc_size);
        uint64_t granted = 0;
        uint64_t refused = stats_of(t).total_bytes + 1;
        while (refused - granted > (1U << 16U)) {
            const uint64_t middle = granted + (refused - granted) / 2;
            hal_dptr ptr = 0;
            if (t.api.device_memory_allocate(0, middle, &ptr) == HAL_OK) {
                t.ok(t.api.device_memory_deallocate(0, ptr, middle));
                granted = middle;
            } else {
                refused = middle;
            }
        }
        t.metric("largest block granted", static_cast<double>(granted), "B");
        t.le(granted, said, "largest block granted, most that can be allocated");
    },
    E::device_memory_stats, blocks())
SIZE(
    19, device_max_alloc_size, "norm.stable_while_allocating", authority::Q,
    {
        const uint64_t before = size_of(t, t.api.device_max_alloc_size);
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, block, &ptr));
        t.eq(before, size_of(t, t.api.device_max_alloc_size), "most that can be allocated in all, with a block in use");
        t.ok(t.api.device_memory_deallocate(0, ptr, block));
    },
    blocks())

SIZE(20, device_extra_padding_size, "norm.lt_chunk", authority::Q,
     t.le(size_of(t, t.api.device_extra_padding_size) + 1, size_of(t, t.api.device_min_chunk_size), "padding, chunk"),
     E::device_min_chunk_size)
SIZE(
    20, device_extra_padding_size, "norm.used_in_limit", authority::D,
    {
        const uint64_t padding = size_of(t, t.api.device_extra_padding_size);
        t.le(padding, stats_of(t).total_bytes, "padding, total");
        hal_dptr ptr = 77;
        t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY, [&] {
            return t.api.device_memory_allocate(0, UINT64_MAX - padding + 1 - (padding == 0 ? 1 : 0), &ptr);
        });
        t.eq(hal_dptr{77}, ptr, "the output of a size that wraps with the padding");
    },
    E::device_memory_stats, blocks())

#define POOL_SIZE(row, entry)                                                                                     \
    SIZE(row, entry, "norm.positive", authority::S, t.check(size_of(t, t.api.entry) > 0, "a size that is not 0")) \
    SIZE(row, entry, "norm.le_max", authority::D,                                                                 \
         t.le(size_of(t, t.api.entry), size_of(t, t.api.device_max_chunk_size), "the size, largest chunk"),       \
         E::device_max_chunk_size)                                                                                \
    SIZE(                                                                                                         \
        row, entry, "norm.grantable_when_free", authority::Q,                                                     \
        {                                                                                                         \
            hal_dptr ptr = 0;                                                                                     \
            const uint64_t size = size_of(t, t.api.entry);                                                        \
            if (t.ok(t.api.device_memory_allocate(0, size, &ptr), "a block of this size on a free device")) {     \
                t.ok(t.api.device_memory_deallocate(0, ptr, size));                                               \
            }                                                                                                     \
        },                                                                                                        \
        blocks())

POOL_SIZE(21, device_init_alloc_size)
POOL_SIZE(22, device_realloc_size)
SIZE(
    22, device_realloc_size, "norm.relation_init", authority::Q,
    {
        const auto first = static_cast<double>(size_of(t, t.api.device_init_alloc_size));
        t.metric("later allocations of a pool for its first",
                 static_cast<double>(size_of(t, t.api.device_realloc_size)) / first, "");
    },
    E::device_init_alloc_size)

}  // namespace
}  // namespace hal::conformance

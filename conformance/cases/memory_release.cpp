// Table 2: giving memory back, of the three kinds.
#include "harness/meters.hpp"
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t block = 16U << 20U;

void check_usage_falls(Test& t) {
    const uint64_t before = stats_of(t).used_bytes;
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(0, block, &ptr));
    const uint64_t during = stats_of(t).used_bytes;
    t.ok(t.api.device_memory_deallocate(0, ptr, block));
    const uint64_t after = stats_of(t).used_bytes;
    t.le(before + block, during, "bytes in use with the block");
    t.le(after + block, during, "bytes in use after the release, and the block");
}

HAL_CASE("45079.T2.device_memory_deallocate.norm.usage_falls", clauses{"45079/T2.2", "46345/A6.c"}, authority::S,
         needs{E::device_memory_deallocate, E::device_memory_allocate, E::device_memory_stats}, exclusive)
(Test& t) {
    check_usage_falls(t);
}

// GB/T 46345 A.6 c), in that standard's words: usage can be watched, and falls when memory is released.
HAL_CASE("46345.A6.c_usage_falls", clauses{"46345/A6.c"}, authority::S, needs{blocks(), E::device_memory_stats},
         exclusive)
(Test& t) {
    check_usage_falls(t);
}

HAL_CASE("46345.A6.c_alloc_free_monitor", clauses{"46345/A6.c"}, authority::S, needs{blocks(), E::device_memory_stats},
         cls::medium, exclusive)
(Test& t) {
    const uint64_t before = stats_of(t).used_bytes;
    for (int round = 0; round < 20; ++round) {
        std::vector<hal_dptr> live;
        for (uint64_t i = 1; i <= 8; ++i) {
            hal_dptr ptr = 0;
            t.ok(t.api.device_memory_allocate(0, i << 18U, &ptr));
            live.push_back(ptr);
            t.le(before + (i << 18U), stats_of(t).used_bytes, "bytes in use while blocks are allocated");
        }
        for (const hal_dptr ptr : live) {
            t.ok(t.api.device_memory_deallocate(0, ptr, 0));
        }
        t.eq(before, stats_of(t).used_bytes, "bytes in use after all were released");
    }
}

// ---- What may be released ----

HAL_CASE("45079.T2.device_memory_deallocate.err.double", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, memory_io()})
(Test& t) {
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(0, 512, &ptr));
    t.ok(t.api.device_memory_deallocate(0, ptr, 512));
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, ptr, 512); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, ptr, 0); });
    const Pattern pattern = t.pattern();
    t.expect(t.device(pattern, 512), pattern, "a block after the refusals");
}

HAL_CASE("45079.T2.device_memory_deallocate.err.foreign", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate})
(Test& t) {
    alignas(256) static uint8_t ours[512];
    t.fails(HAL_ERROR_INVALID_HANDLE,
            [&] { return t.api.device_memory_deallocate(0, reinterpret_cast<hal_dptr>(ours), 512); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, 256, 0); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, UINT64_MAX - 255, 0); });
}

HAL_CASE("45079.T2.device_memory_deallocate.err.interior", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 4096);
    for (const uint64_t offset : {1U, 64U, 256U, 4000U}) {
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, buffer.base + offset, 0); });
    }
    t.expect(buffer, pattern, "the block that was named by inner addresses");
}

// ---- In which order and by whom ----

enum class Order { reverse, random };

void check_order(Test& t, Order order) {
    std::vector<std::pair<hal_dptr, uint64_t>> live;
    for (uint64_t i = 0; i < 300; ++i) {
        const uint64_t size = 1 + t.random() % 20'000;
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, size, &ptr));
        live.emplace_back(ptr, size);
    }
    if (order == Order::reverse) {
        std::reverse(live.begin(), live.end());
    }
    while (!live.empty()) {
        const size_t at = order == Order::reverse ? 0 : t.random() % live.size();
        t.ok(t.api.device_memory_deallocate(0, live[at].first, live[at].second));
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    hal_dptr again = 0;
    t.ok(t.api.device_memory_allocate(0, 1U << 20U, &again), "a block afterwards");
    t.ok(t.api.device_memory_deallocate(0, again, 0));
}

HAL_CASE("45079.T2.device_memory_deallocate.life.free_order_reverse", clauses{"45079/T2.2"}, authority::D,
         needs{E::device_memory_deallocate, E::device_memory_allocate})
(Test& t) {
    check_order(t, Order::reverse);
}

HAL_CASE("45079.T2.device_memory_deallocate.life.free_order_random", clauses{"45079/T2.2"}, authority::D,
         needs{E::device_memory_deallocate, E::device_memory_allocate})
(Test& t) {
    check_order(t, Order::random);
}

HAL_CASE("45079.T2.device_memory_deallocate.life.other_current_device", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, E::device_memory_allocate, E::set_device, devices(2)})
(Test& t) {
    for (const hal_dev dev : {0, 1}) {
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(dev, 1000, &ptr));
        t.ok(t.api.set_device(1 - dev));
        t.ok(t.api.device_memory_deallocate(dev, ptr, 1000), "with the other device current");
    }
}

// The caller has synchronised: then releasing is always right.
HAL_CASE("45079.T2.device_memory_deallocate.order.after_sync_only", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    const hal_stream s = t.stream();
    const HostBuffer& source = t.host(t.pattern(), 50'021);
    for (int i = 0; i < 100; ++i) {
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, source.size(), &ptr));
        t.ok(t.api.async_memory_copy_h2d(0, s, ptr, source.data(), source.size()));
        t.sync(s);
        t.ok(t.api.device_memory_deallocate(0, ptr, source.size()));
    }
}

// ---- Page-locked and unified memory ----

// Sixteen times a block that is touched and released: the process may keep a few, never all.
void check_resident_falls(Test& t, const HostKind& kind) {
    const uint64_t before = read_meters().resident_bytes;
    for (int i = 0; i < 16; ++i) {
        void* ptr = nullptr;
        if (!t.ok(kind.allocate(block, &ptr))) {
            return;
        }
        std::memset(ptr, i + 1, block);
        t.ok(kind.release(ptr, block));
    }
    t.le(read_meters().resident_bytes, before + 8 * block, "resident bytes after 16 blocks were released");
}

void check_other_thread(Test& t, const HostKind& kind) {
    std::vector<void*> blocks_of_one(200);
    t.threads(1, [&](int) {
        for (void*& one : blocks_of_one) {
            t.ok(kind.allocate(3000, &one));
        }
    });
    t.threads(1, [&](int) {
        for (void* one : blocks_of_one) {
            t.ok(kind.release(one, 3000), "released by another thread");
        }
    });
}

// 200 live blocks, each filled with its own bytes, looked at when all are written.
void check_disjoint(Test& t, const HostKind& kind) {
    struct Live {
        void* ptr;
        uint64_t size;
        Pattern pattern;
    };
    std::vector<Live> live;
    for (int i = 0; i < 200; ++i) {
        Live one{nullptr, 1 + t.random() % 5000, t.pattern()};
        if (!t.ok(kind.allocate(one.size, &one.ptr))) {
            break;
        }
        one.pattern.write(one.ptr, one.size);
        live.push_back(one);
    }
    for (const Live& one : live) {
        t.check(!compare(one.ptr, one.pattern, one.size), "data with 200 live blocks");
    }
    for (const Live& one : live) {
        t.ok(kind.release(one.ptr, one.size));
    }
}

void check_zero(Test& t, const HostKind& kind) {
    void* ptr = &ptr;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return kind.allocate(0, &ptr); });
    t.check(ptr == &ptr, "the output is untouched");
}

void check_huge(Test& t, const HostKind& kind) {
    for (const uint64_t size : {UINT64_MAX, UINT64_MAX - 4095, (uint64_t{1} << 63U) + 1, uint64_t{1} << 62U}) {
        const auto in = t.context("size", size);
        void* ptr = &ptr;
        t.fails_any({HAL_ERROR_OUT_OF_HOST_MEMORY, HAL_ERROR_OUT_OF_DEVICE_MEMORY},
                    [&] { return kind.allocate(size, &ptr); });
        t.check(ptr == &ptr, "the output is untouched");
    }
    void* again = nullptr;
    t.ok(kind.allocate(300, &again), "a small block after the refusals");
    t.ok(kind.release(again, 300));
}

#define KIND_CASE(row, entry, id, rights, call, ...)                                                     \
    HAL_CASE("45079.T2." #entry "." id, clauses{"45079/T2." #row}, rights, needs{E::entry, __VA_ARGS__}) \
    (Test & t) {                                                                                         \
        call;                                                                                            \
    }
#define KIND_CASES(make_row, make, release_row, freer, kind)                                                 \
    KIND_CASE(make_row, make, "norm.disjoint", authority::D, check_disjoint(t, kind(t)), E::freer)           \
    KIND_CASE(make_row, make, "edge.zero", authority::A, check_zero(t, kind(t)))                             \
    KIND_CASE(make_row, make, "edge.huge", authority::A, check_huge(t, kind(t)), E::freer)                   \
    KIND_CASE(release_row, freer, "norm.rss_falls", authority::D, check_resident_falls(t, kind(t)), E::make) \
    KIND_CASE(release_row, freer, "edge.null", authority::A, t.ok(kind(t).release(nullptr, 0)))              \
    KIND_CASE(release_row, freer, "conc.other_thread", authority::A, check_other_thread(t, kind(t)), E::make)

KIND_CASES(3, host_memory_allocate, 4, host_memory_deallocate, host_kind)
KIND_CASES(5, unified_memory_allocate, 6, unified_memory_deallocate, unified_kind)

HAL_CASE("45079.T2.unified_memory_deallocate.norm.stats_fall", clauses{"45079/T2.6"}, authority::D,
         needs{E::unified_memory_deallocate, E::unified_memory_allocate, E::device_memory_stats}, exclusive)
(Test& t) {
    // Counted to the device or not: what was counted is given back.
    const uint64_t before = stats_of(t).used_bytes;
    hal_dptr ptr = 0;
    t.ok(t.api.unified_memory_allocate(0, block, &ptr));
    t.ok(t.api.unified_memory_deallocate(0, ptr, block));
    t.le(stats_of(t).used_bytes, before, "bytes in use after the release");
}

HAL_CASE("45079.T2.host_memory_allocate.norm.alignment", clauses{"45079/T2.3"}, authority::Q,
         needs{E::host_memory_allocate, E::host_memory_deallocate})
(Test& t) {
    constexpr uintptr_t page = 4096;
    uintptr_t common = 0;
    for (uint64_t i = 1; i <= 50; ++i) {
        void* ptr = nullptr;
        t.ok(t.api.host_memory_allocate(0, i * 5000, &ptr));
        common |= reinterpret_cast<uintptr_t>(ptr);
        t.ok(t.api.host_memory_deallocate(0, ptr, i * 5000));
    }
    const uintptr_t least = common & (~common + 1);
    t.metric("least alignment of page-locked memory", static_cast<double>(least), "B");
    t.le(page / 16, least, "alignment of page-locked memory");
}

// Locked as the kernel counts it, or as the plug-in's driver does: get_memory_attributes says so.
HAL_CASE("45079.T2.host_memory_allocate.norm.locked", clauses{"45079/T2.3"}, authority::Q,
         needs{E::host_memory_allocate, E::host_memory_deallocate, E::get_memory_attributes}, exclusive)
(Test& t) {
    const uint64_t before = read_meters().locked_bytes;
    void* ptr = nullptr;
    t.ok(t.api.host_memory_allocate(0, 1U << 20U, &ptr));
    hal_memory_attributes attributes{};
    attributes.header.size = sizeof attributes;
    t.ok(t.api.get_memory_attributes(reinterpret_cast<uint64_t>(ptr), &attributes));
    const bool counted = read_meters().locked_bytes >= before + (1U << 20U);
    const bool said = (attributes.flags & HAL_MEMORY_PAGE_LOCKED) != 0;
    t.metric("page-locked memory is locked", counted || said ? 1 : 0, "");
    t.eq(uint32_t{HAL_MEMORY_HOST}, attributes.memory_kind, "kind of the memory");
    t.ok(t.api.host_memory_deallocate(0, ptr, 1U << 20U));
}

HAL_CASE("45079.T2.host_memory_deallocate.norm.remap_unlocked", clauses{"45079/T2.4"}, authority::Q,
         needs{E::host_memory_deallocate, E::host_memory_allocate}, exclusive)
(Test& t) {
    const uint64_t before = read_meters().locked_bytes;
    for (int i = 0; i < 8; ++i) {
        void* ptr = nullptr;
        t.ok(t.api.host_memory_allocate(0, 1U << 20U, &ptr));
        t.ok(t.api.host_memory_deallocate(0, ptr, 1U << 20U));
    }
    t.le(read_meters().locked_bytes, before + (4U << 20U), "locked bytes after 8 blocks were released");
}

HAL_CASE("45079.T2.host_memory_deallocate.order.after_async_copy_synced", clauses{"45079/T2.4"}, authority::D,
         needs{E::host_memory_deallocate, E::host_memory_allocate, E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    constexpr uint64_t size = 50'021;
    const hal_stream s = t.stream();
    const DeviceBuffer& to = t.device(size);
    for (int i = 0; i < 50; ++i) {
        void* ptr = nullptr;
        const Pattern pattern = t.pattern();
        if (!t.ok(t.api.host_memory_allocate(0, size, &ptr))) {
            return;
        }
        pattern.write(ptr, size);
        t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, ptr, size));
        t.sync(s);
        t.ok(t.api.host_memory_deallocate(0, ptr, size));
        t.expect(to, pattern, "data of a copy whose source was released after the synchronisation");
    }
}

}  // namespace
}  // namespace hal::conformance

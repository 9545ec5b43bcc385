// Table 2: allocations at their limits, and beside others.
#include <map>

#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T2.device_memory_allocate.norm.alignment", clauses{"45079/T2.1"}, authority::A,
         needs{E::device_memory_allocate, E::device_memory_deallocate})
(Test& t) {
    uint64_t common = 0;
    std::vector<hal_dptr> live;
    for (int i = 0; i < 1000; ++i) {
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, 1 + t.random() % 3000, &ptr));
        common |= ptr;
        live.push_back(ptr);
    }
    const uint64_t least = common & (~common + 1);
    t.metric("least alignment of 1,000 blocks", static_cast<double>(least), "B");
    t.le(uint64_t{256}, least, "alignment of every block");
    for (const hal_dptr ptr : live) {
        t.ok(t.api.device_memory_deallocate(0, ptr, 0));
    }
}

// The size is refused, the output untouched, and the next small allocation works.
void check_refused(Test& t, uint64_t size) {
    hal_dptr ptr = 77;
    t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY, [&] { return t.api.device_memory_allocate(0, size, &ptr); });
    t.eq(hal_dptr{77}, ptr, "the output after the refusal");
    t.ok(t.api.device_memory_allocate(0, 300, &ptr), "a small block after the refusal");
    t.ok(t.api.device_memory_deallocate(0, ptr, 300));
}

HAL_CASE("45079.T2.device_memory_allocate.edge.max_plus_one", clauses{"45079/T2.1", "45079/T2.19"}, authority::A,
         needs{E::device_memory_allocate, E::device_memory_deallocate, E::device_max_alloc_size})
(Test& t) {
    uint64_t most = 0;
    t.ok(t.api.device_max_alloc_size(0, &most));
    check_refused(t, most + 1);
}

HAL_CASE("45079.T2.device_memory_allocate.edge.u64_max", clauses{"45079/T2.1"}, authority::A,
         needs{E::device_memory_allocate, E::device_memory_deallocate})
(Test& t) {
    check_refused(t, UINT64_MAX);
}

// The classic: size and padding wrap around to a small number.
HAL_CASE("45079.T2.device_memory_allocate.edge.u64_max_minus_pad", clauses{"45079/T2.1", "45079/T2.20"}, authority::A,
         needs{E::device_memory_allocate, E::device_memory_deallocate})
(Test& t) {
    uint64_t padding = 0;
    if (t.api.device_extra_padding_size) {
        t.ok(t.api.device_extra_padding_size(0, &padding));
    }
    for (const uint64_t less : {padding, uint64_t{1}, uint64_t{63}, uint64_t{255}, uint64_t{4095}, uint64_t{65'535},
                                (uint64_t{2} << 20U) - 1}) {
        const auto in = t.context("less", less);
        check_refused(t, UINT64_MAX - less);
    }
}

// Granted memory exists: every page of nine tenths of what is free can be written and read at the same time.
HAL_CASE("45079.T2.device_memory_allocate.fault.overcommit_is_real", clauses{"45079/T2.1"}, authority::D,
         needs{E::device_memory_allocate, E::device_memory_stats, memory_io()}, cls::long_, exclusive)
(Test& t) {
    constexpr uint64_t most = uint64_t{2} << 30U;  // enough to tell, and bounded in time
    constexpr uint64_t part = 4U << 20U;
    const uint64_t wanted = std::min(stats_of(t).free_bytes / 10 * 9, most);
    struct Live {
        hal_dptr ptr;
        Pattern pattern;
    };
    std::vector<Live> live;
    const HostBuffer piece(4096);
    for (uint64_t granted = 0; granted + part <= wanted; granted += part) {
        Live one{0, t.pattern()};
        if (t.api.device_memory_allocate(0, part, &one.ptr) != HAL_OK) {
            break;  // a refusal is honest
        }
        piece.write(one.pattern);
        for (uint64_t at = 0; at < part; at += 4096) {
            t.ok(t.api.memory_copy_h2d(0, one.ptr + at, piece.data(), 4096));
        }
        live.push_back(one);
    }
    t.check(!live.empty(), "something was granted");
    for (const Live& one : live) {
        for (uint64_t at = 0; at < part; at += part / 4) {
            t.ok(t.api.memory_copy_d2h(0, piece.data(), one.ptr + at, 4096));
            t.check(!compare(piece.data(), one.pattern, 4096), "data with everything in use");
        }
        t.ok(t.api.device_memory_deallocate(0, one.ptr, part));
    }
}

// Churn with canaries at both ends of each block; at the end everything is free again.
HAL_CASE("45079.T2.device_memory_allocate.stress.fragmentation", clauses{"45079/T2.1"}, authority::D,
         needs{E::device_memory_allocate, memory_io()}, cls::medium, exclusive)
(Test& t) {
    struct Block {
        uint64_t size;
        uint8_t canary;
    };
    constexpr int rounds = 100'000;
    const uint64_t before = t.api.device_memory_stats ? stats_of(t).used_bytes : 0;
    std::map<hal_dptr, Block> live;
    const auto release = [&](std::map<hal_dptr, Block>::iterator at) {
        const auto& [ptr, block] = *at;
        uint8_t first = 0;
        uint8_t last = 0;
        t.ok(t.api.memory_copy_d2h(0, &first, ptr, 1));
        t.ok(t.api.memory_copy_d2h(0, &last, ptr + block.size - 1, 1));
        t.check(last == block.canary && (first == block.canary || block.size == 1), "the canaries of the block");
        t.ok(t.api.device_memory_deallocate(0, ptr, block.size));
        live.erase(at);
    };
    for (int i = 0; i < rounds; ++i) {
        if (live.size() < 200 || (live.size() < 2000 && t.random() % 2 == 0)) {
            const Block block{1 + (t.random() % 64) * (t.random() % 1024), static_cast<uint8_t>(1 + i % 255)};
            hal_dptr ptr = 0;
            if (!t.ok(t.api.device_memory_allocate(0, block.size, &ptr))) {
                break;
            }
            const auto next = live.lower_bound(ptr);
            t.check((next == live.end() || ptr + block.size <= next->first) &&
                        (next == live.begin() || std::prev(next)->first + std::prev(next)->second.size <= ptr),
                    "lies in no other live block");
            t.ok(t.api.memory_copy_h2d(0, ptr, &block.canary, 1));
            t.ok(t.api.memory_copy_h2d(0, ptr + block.size - 1, &block.canary, 1));
            live[ptr] = block;
        } else {
            auto victim = live.lower_bound(live.begin()->first +
                                           t.random() % (std::prev(live.end())->first - live.begin()->first + 1));
            release(victim == live.end() ? live.begin() : victim);
        }
    }
    while (!live.empty()) {
        release(live.begin());
    }
    if (t.api.device_memory_stats) {
        t.eq(before, stats_of(t).used_bytes, "bytes in use after everything was released");
    }
}

HAL_CASE("45079.T2.device_memory_allocate.life.addresses_not_reused_while_live", clauses{"45079/T2.1"}, authority::D,
         needs{E::device_memory_allocate, E::device_memory_deallocate})
(Test& t) {
    std::map<hal_dptr, uint64_t> live;
    for (int i = 0; i < 1000; ++i) {
        const uint64_t size = 1 + t.random() % 2000;
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, size, &ptr));
        const auto next = live.lower_bound(ptr);
        t.check((next == live.end() || ptr + size <= next->first) &&
                    (next == live.begin() || std::prev(next)->first + std::prev(next)->second <= ptr),
                "an address range that no live block has");
        live[ptr] = size;
    }
    for (const auto& [ptr, size] : live) {
        t.ok(t.api.device_memory_deallocate(0, ptr, size));
    }
}

HAL_CASE("45079.T2.device_memory_allocate.conc.cross_device", clauses{"45079/T2.1"}, authority::D,
         needs{E::device_memory_allocate, memory_io(), devices(2), free_threads})
(Test& t) {
    constexpr uint64_t size = 3001;
    t.threads(4, [&](int thread) {
        for (int i = 0; i < 200; ++i) {
            const hal_dev dev = (thread + i) % t.facts.device_count;
            const Pattern pattern = t.pattern();
            const HostBuffer source(size);
            const HostBuffer back(size);
            source.write(pattern);
            hal_dptr ptr = 0;
            t.ok(t.api.device_memory_allocate(dev, size, &ptr));
            t.ok(t.api.memory_copy_h2d(dev, ptr, source.data(), size));
            t.ok(t.api.memory_copy_d2h(dev, back.data(), ptr, size));
            t.expect(back, pattern, "this thread's data on this device");
            t.ok(t.api.device_memory_deallocate(dev, ptr, size));
        }
    });
}

// A gate holds another stream of the device: the allocation may wait for it, and ends once it opens.
HAL_CASE("45079.T2.device_memory_allocate.order.while_busy", clauses{"45079/T2.1"}, authority::A,
         needs{E::device_memory_allocate, E::device_memory_deallocate, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    hal_dptr ptr = 0;
    const Gate g = t.gate(s);
    Helper helper([&] { return t.api.device_memory_allocate(0, 5000, &ptr); });
    const bool at_once = helper.returned_within(t.limits.closed_look);
    t.metric("an allocation waits for busy streams", at_once ? 0 : 1, "");
    g.open();
    t.check(helper.returned_within(t.limits.finish), "the allocation ends once the stream is free");
    t.ok(helper.status());
    t.ok(t.api.device_memory_deallocate(0, ptr, 5000));
}

}  // namespace
}  // namespace hal::conformance

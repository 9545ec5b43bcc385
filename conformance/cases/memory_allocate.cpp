// Table 2: making and releasing memory of the three kinds.
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

bool out_of_memory(hal_status status) {
    return status == HAL_ERROR_OUT_OF_DEVICE_MEMORY || status == HAL_ERROR_OUT_OF_HOST_MEMORY;
}

HAL_CASE("45079.T2.device_memory_allocate.norm.writable_full", clauses{"45079/T2.1"}, authority::S,
         needs{E::device_memory_allocate, memory_io()})
(Test& t) {
    for (const uint64_t size : allocation_sizes) {
        const auto in = t.context("size", size);
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, size, &ptr));
        t.check(ptr != 0 && ptr % 256 == 0, "an address, aligned to 256 bytes");
        const Pattern pattern = t.pattern();
        HostBuffer& source = t.host(pattern, size);
        HostBuffer& back = t.host(size);
        t.ok(t.api.memory_copy_h2d(0, ptr, source.data(), size));
        t.ok(t.api.memory_copy_d2h(0, back.data(), ptr, size));
        t.expect(back, pattern, "data written and read");
        t.ok(t.api.device_memory_deallocate(0, ptr, size));
    }
}

// By their addresses alone: what lies in another block would spoil all that a case could do with data.
void check_addresses_disjoint(Test& t) {
    std::map<std::pair<hal_dev, hal_dptr>, uint64_t> live;  // and their sizes
    for (int i = 0; i < 500; ++i) {
        const hal_dev dev = i % t.facts.device_count;
        const uint64_t size = 1 + t.random() % 5000;
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(dev, size, &ptr));
        const auto next = live.lower_bound({dev, ptr});
        const auto last = next == live.begin() ? live.end() : std::prev(next);
        const bool before = last == live.end() || last->first.first != dev || last->first.second + last->second <= ptr;
        const bool behind = next == live.end() || next->first.first != dev || ptr + size <= next->first.second;
        t.check(before && behind, "lies in no other live block");
        live.emplace(std::pair(dev, ptr), size);
    }
    for (const auto& [place, size] : live) {
        t.ok(t.api.device_memory_deallocate(place.first, place.second, size));
    }
}

HAL_CASE("45079.T2.device_memory_allocate.norm.disjoint", clauses{"45079/T2.1"}, authority::D,
         needs{E::device_memory_allocate, memory_io()})
(Test& t) {
    check_addresses_disjoint(t);
    std::vector<std::pair<DeviceBuffer*, Pattern>> live;
    for (int i = 0; i < 500; ++i) {
        const Pattern pattern = t.pattern();
        live.emplace_back(&t.device(pattern, 1 + t.random() % 5000, static_cast<hal_dev>(i % t.facts.device_count)),
                          pattern);
    }
    for (const auto& [buffer, pattern] : live) {
        t.expect(*buffer, pattern, "data with 500 live blocks");
    }
    for (size_t i = 0; i < live.size(); i += 2) {
        t.release(*live[i].first);
    }
    for (size_t i = 1; i < live.size(); i += 2) {
        t.expect(*live[i].first, live[i].second, "data after every second block was released");
    }
}

HAL_CASE("45079.T2.device_memory_allocate.norm.address_arithmetic", clauses{"45079/T2.1"}, authority::A,
         needs{E::device_memory_allocate, memory_io()})
(Test& t) {
    const DeviceBuffer& buffer = t.device(1000);
    for (const uint64_t offset : {0, 1, 2, 3, 4, 7, 8, 16, 63, 999}) {
        const auto in = t.context("offset", offset);
        const auto sent = static_cast<uint8_t>(offset + 3);
        uint8_t got = 0;
        t.ok(t.api.memory_copy_h2d(0, buffer.ptr + offset, &sent, 1));
        t.ok(t.api.memory_copy_d2h(0, &got, buffer.ptr + offset, 1));
        t.eq(static_cast<int>(sent), static_cast<int>(got), "the byte at the offset");
    }
}

HAL_CASE("45079.T2.device_memory_allocate.err.zero", clauses{"45079/T2.1"}, authority::A,
         needs{E::device_memory_allocate})
(Test& t) {
    hal_dptr ptr = 77;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.device_memory_allocate(0, 0, &ptr); });
    t.eq(hal_dptr{77}, ptr, "the output after the refusal");
}

HAL_CASE("45079.T2.device_memory_allocate.err.overflow", clauses{"45079/T2.1"}, authority::A,
         needs{E::device_memory_allocate, memory_io()})
(Test& t) {
    for (const uint64_t size : overflowing_sizes) {
        const auto in = t.context("size", size);
        hal_dptr ptr = 77;
        t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY, [&] { return t.api.device_memory_allocate(0, size, &ptr); });
        t.eq(hal_dptr{77}, ptr, "the output after the refusal");
    }
    const Pattern pattern = t.pattern();
    t.expect(t.device(pattern, 300), pattern, "a small block after the refusals");
}

// Falling sizes until not even the smallest fits; then everything is given back and the first size fits again.
HAL_CASE("45079.T2.device_memory_allocate.fault.oom_recover", clauses{"45079/T2.1"}, authority::D,
         needs{E::device_memory_allocate, E::device_memory_deallocate, E::device_max_alloc_size, memory_io()})
(Test& t) {
    uint64_t size = 0;
    t.ok(t.api.device_max_alloc_size(0, &size));
    const uint64_t whole = size;
    for (int round = 0; round < 2; ++round) {
        std::vector<hal_dptr> blocks;
        uint64_t first = 0;
        hal_status status = HAL_OK;
        for (size = whole; size >= 1U << 20U;) {
            hal_dptr ptr = 0;
            status = t.api.device_memory_allocate(0, size, &ptr);
            if (status != HAL_OK) {
                t.check(out_of_memory(status), "refused for want of memory");
                size /= 2;
                continue;
            }
            first = std::max(first, size);
            blocks.push_back(ptr);
        }
        t.check(!blocks.empty(), "something was granted");
        for (const hal_dptr block : blocks) {
            t.ok(t.api.device_memory_deallocate(0, block, 0));
        }
        hal_dptr again = 0;
        t.ok(t.api.device_memory_allocate(0, first, &again), "the largest block again, after all were released");
        t.ok(t.api.device_memory_deallocate(0, again, first));
    }
    const Pattern pattern = t.pattern();
    t.expect(t.device(pattern, 300), pattern, "a small block afterwards");
}

HAL_CASE("45079.T2.device_memory_deallocate.norm.reusable", clauses{"45079/T2.2"}, authority::S,
         needs{E::device_memory_deallocate, E::device_memory_allocate, E::device_max_alloc_size})
(Test& t) {
    uint64_t whole = 0;
    t.ok(t.api.device_max_alloc_size(0, &whole));
    for (int i = 0; i < 100; ++i) {
        hal_dptr ptr = 0;
        if (!t.ok(t.api.device_memory_allocate(0, whole / 10 * 6, &ptr), "six tenths of the memory, again")) {
            return;
        }
        t.ok(t.api.device_memory_deallocate(0, ptr, 0));
    }
}

HAL_CASE("45079.T2.device_memory_deallocate.edge.null", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate})
(Test& t) {
    t.ok(t.api.device_memory_deallocate(0, 0, 0));
    t.ok(t.api.device_memory_deallocate(0, 0, 256));
}

HAL_CASE("45079.T2.device_memory_deallocate.err.unknown_pointer", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 1000);
    hal_dptr gone = 0;
    t.ok(t.api.device_memory_allocate(0, 512, &gone));
    t.ok(t.api.device_memory_deallocate(0, gone, 512));
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, gone, 512); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, buffer.base + 64, 0); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, 1, 0); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, UINT64_MAX - 255, 0); });
    t.fails(HAL_ERROR_INVALID_HANDLE,
            [&] { return t.api.device_memory_deallocate(0, reinterpret_cast<hal_dptr>(&gone), 0); });
    t.expect(buffer, pattern, "the block that was named by an inner address");
}

HAL_CASE("45079.T2.device_memory_deallocate.err.other_device", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, memory_io(), devices(2)})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 1000, 0);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(1, buffer.base, 0); });
    t.expect(buffer, pattern, "the block of the other device");
}

HAL_CASE("45079.T2.device_memory_deallocate.err.wrong_size", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, E::device_memory_allocate})
(Test& t) {
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(0, 1000, &ptr));
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.device_memory_deallocate(0, ptr, 999); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.device_memory_deallocate(0, ptr, 1024); });
    t.ok(t.api.device_memory_deallocate(0, ptr, 1000), "the size that was asked for");
}

HAL_CASE("45079.T2.device_memory_deallocate.conc.other_thread", clauses{"45079/T2.2"}, authority::A,
         needs{E::device_memory_deallocate, E::device_memory_allocate, free_threads})
(Test& t) {
    std::vector<hal_dptr> blocks(400);
    t.threads(4, [&](int thread) {
        for (size_t i = static_cast<size_t>(thread); i < blocks.size(); i += 4) {
            t.ok(t.api.device_memory_allocate(0, 100 + i, &blocks[i]));
        }
    });
    t.threads(4, [&](int thread) {
        for (size_t i = static_cast<size_t>(3 - thread); i < blocks.size(); i += 4) {
            t.ok(t.api.device_memory_deallocate(0, blocks[i], 100 + i), "released by another thread");
        }
    });
}

}  // namespace
}  // namespace hal::conformance

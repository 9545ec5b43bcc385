// The allocator: limit, running out and recovering, fragmentation, statistics, trim, threads.
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "heap.hpp"

namespace hal::cpu {
namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

uint64_t take(Heap& heap, uint64_t bytes, uint64_t alignment = granule_bytes) {
    return heap.allocate(bytes, alignment, BlockKind::device);
}

Heap::Freed give(Heap& heap, uint64_t address, uint64_t bytes = 0) {
    return heap.release(address, bytes, BlockKind::device);
}

uint64_t resident_bytes(const Heap& heap) {
    struct stat status {};
    REQUIRE(fstat(heap.arena().file(), &status) == 0);
    return static_cast<uint64_t>(status.st_blocks) * 512;
}

// A block with bytes of its own; any overlap with another shows in check().
struct Canary {
    uint64_t address;
    uint64_t bytes;
    uint64_t seed;

    void write() const {
        std::mt19937_64 random(seed);
        for (uint64_t i = 0; i < bytes; ++i) {
            reinterpret_cast<uint8_t*>(address)[i] = static_cast<uint8_t>(random());
        }
    }
    [[nodiscard]] bool check() const {
        std::mt19937_64 random(seed);
        for (uint64_t i = 0; i < bytes; ++i) {
            if (reinterpret_cast<uint8_t*>(address)[i] != static_cast<uint8_t>(random())) {
                return false;
            }
        }
        return true;
    }
};

TEST_CASE("blocks are aligned, disjoint and writable from the first byte to the last") {
    Heap heap(64 * mib);
    std::mt19937_64 random(1);
    std::vector<Canary> blocks;
    for (uint64_t i = 0; i < 500; ++i) {
        const uint64_t bytes = 1 + random() % 20000;
        blocks.push_back({take(heap, bytes), bytes, i});
        REQUIRE(blocks.back().address != 0);
        REQUIRE(blocks.back().address % granule_bytes == 0);
        blocks.back().write();
    }
    for (const Canary& block : blocks) {
        REQUIRE(block.check());
    }
    for (size_t i = 0; i < blocks.size(); i += 2) {
        REQUIRE(give(heap, blocks[i].address, blocks[i].bytes) == Heap::Freed::ok);
    }
    for (size_t i = 1; i < blocks.size(); i += 2) {
        REQUIRE(blocks[i].check());
    }
}

TEST_CASE("every power of two up to a huge page is an alignment") {
    Heap heap(64 * mib);
    for (uint64_t alignment = 1; alignment <= window_bytes; alignment *= 2) {
        const uint64_t offset_maker = take(heap, 300);
        const uint64_t block = take(heap, 1000, alignment);
        INFO(alignment);
        REQUIRE(block != 0);
        REQUIRE(block % alignment == 0);
        REQUIRE(heap.contains(block, 1000));
        REQUIRE(offset_maker != 0);
    }
}

TEST_CASE("the limit holds with padding, and a refusal leaves the heap as it was") {
    Heap heap(4 * mib);
    SECTION("sizes that overflow") {
        for (const uint64_t bytes : {UINT64_MAX, UINT64_MAX - 255, UINT64_MAX / 2, 4 * mib + 1}) {
            REQUIRE(take(heap, bytes) == 0);
        }
        REQUIRE(take(heap, 1) != 0);
    }
    SECTION("all of it, and not one byte more") {
        const uint64_t all = take(heap, 4 * mib);
        REQUIRE(all != 0);
        REQUIRE(take(heap, 1) == 0);
        REQUIRE(heap.stats().used_bytes == 4 * mib);
        REQUIRE(give(heap, all) == Heap::Freed::ok);
        REQUIRE(take(heap, 4 * mib) == all);
    }
    SECTION("padding counts") {
        for (uint64_t i = 0; i < 4 * mib / granule_bytes; ++i) {
            REQUIRE(take(heap, 1) != 0);
        }
        REQUIRE(take(heap, 1) == 0);
    }
}

TEST_CASE("small blocks that are free serve one of all their size") {
    Heap heap(4 * mib);
    std::vector<uint64_t> blocks;
    while (const uint64_t block = take(heap, 4096)) {
        blocks.push_back(block);
    }
    REQUIRE(blocks.size() == 1024);
    REQUIRE(take(heap, 4 * mib) == 0);
    for (const uint64_t block : blocks) {
        REQUIRE(give(heap, block) == Heap::Freed::ok);
    }
    REQUIRE(take(heap, 4 * mib) != 0);
}

TEST_CASE("memory that is free in pieces is found at another address") {
    Heap heap(8 * mib);
    std::vector<uint64_t> blocks;
    for (int i = 0; i < 8; ++i) {
        blocks.push_back(take(heap, mib));
    }
    for (size_t i = 0; i < blocks.size(); i += 2) {
        REQUIRE(give(heap, blocks[i]) == Heap::Freed::ok);
    }
    REQUIRE(take(heap, 4 * mib) != 0);
    REQUIRE(heap.stats().cached_bytes ==
            0);  // the pages of the holes went back: the limit is one of memory, not of addresses
}

TEST_CASE("a wrong free frees nothing") {
    Heap heap(4 * mib);
    const uint64_t block = take(heap, 1000);
    REQUIRE(give(heap, block, 999) == Heap::Freed::wrong_size);
    REQUIRE(give(heap, block + 1) == Heap::Freed::interior);
    REQUIRE(give(heap, block + 256) == Heap::Freed::interior);
    REQUIRE(heap.release(block, 0, BlockKind::unified) == Heap::Freed::wrong_kind);
    REQUIRE(give(heap, block + mib) == Heap::Freed::not_live);
    REQUIRE(give(heap, 0x1000) == Heap::Freed::not_live);
    REQUIRE(give(heap, UINT64_MAX) == Heap::Freed::not_live);
    REQUIRE(heap.contains(block, 1000));
    REQUIRE(heap.stats().live == 1);
    REQUIRE(give(heap, block, 1000) == Heap::Freed::ok);
    REQUIRE(give(heap, block) == Heap::Freed::not_live);
    REQUIRE(heap.stats().live == 0);
}

TEST_CASE("a pending block counts as used and can not be freed again") {
    Heap heap(4 * mib);
    const uint64_t block = take(heap, 1000);
    REQUIRE(heap.begin_release(block) == Heap::Freed::ok);
    REQUIRE(heap.begin_release(block) == Heap::Freed::pending);
    REQUIRE(give(heap, block) == Heap::Freed::pending);
    REQUIRE_FALSE(heap.contains(block, 1));
    REQUIRE(heap.stats().used_bytes == 1024);
    SECTION("the stream arrives") {
        heap.finish_release(block);
        REQUIRE(heap.stats().used_bytes == 0);
        REQUIRE(give(heap, block) == Heap::Freed::not_live);
    }
    SECTION("the stream refused") {
        heap.cancel_release(block);
        REQUIRE(heap.contains(block, 1000));
        REQUIRE(give(heap, block) == Heap::Freed::ok);
    }
}

TEST_CASE("contains ends with the bytes that were asked for") {
    Heap heap(4 * mib);
    const uint64_t block = take(heap, 1000);
    const uint64_t neighbour = take(heap, 1000);
    REQUIRE(neighbour == block + 1024);
    REQUIRE(heap.contains(block, 1000));
    REQUIRE(heap.contains(block + 999, 1));
    REQUIRE_FALSE(heap.contains(block + 999, 2));
    REQUIRE_FALSE(heap.contains(block, 1024 + 1000));
    REQUIRE_FALSE(heap.contains(block + 1001, 1));
    REQUIRE_FALSE(heap.contains(block + 10, UINT64_MAX));
    REQUIRE_FALSE(heap.contains(0, 1));
}

TEST_CASE("peak and counts") {
    Heap heap(4 * mib);
    const uint64_t a = take(heap, mib);
    const uint64_t b = take(heap, 1);
    REQUIRE(heap.stats().peak_bytes == mib + 256);
    REQUIRE(heap.stats().live == 2);
    REQUIRE(give(heap, a) == Heap::Freed::ok);
    REQUIRE(heap.stats().peak_bytes == mib + 256);
    heap.reset_peak();
    REQUIRE(heap.stats().peak_bytes == 256);
    REQUIRE(give(heap, b) == Heap::Freed::ok);
    REQUIRE(heap.stats().used_bytes == 0);
}

TEST_CASE("trim gives pages back to the kernel and the memory is zero and usable again") {
    Heap heap(64 * mib);
    const uint64_t keeper = take(heap, 4096);
    const uint64_t big = take(heap, 32 * mib);
    std::memset(reinterpret_cast<void*>(keeper), 0x5a, 4096);
    std::memset(reinterpret_cast<void*>(big), 0xff, 32 * mib);
    REQUIRE(give(heap, big) == Heap::Freed::ok);
    REQUIRE(resident_bytes(heap) >= 32 * mib);
    REQUIRE(heap.stats().cached_bytes >= 32 * mib);
    heap.trim(UINT64_MAX);
    REQUIRE(heap.stats().cached_bytes >= 32 * mib);
    heap.trim(0);
    REQUIRE(heap.stats().cached_bytes == 0);
    REQUIRE(resident_bytes(heap) <= 4 * mib);
    const uint64_t again = take(heap, 32 * mib);
    REQUIRE(again == big);
    for (uint64_t i = 0; i < 32 * mib; i += 4096) {
        REQUIRE(reinterpret_cast<volatile uint8_t*>(again)[i] == 0);
    }
    REQUIRE(*reinterpret_cast<uint8_t*>(keeper + 4095) == 0x5a);
}

TEST_CASE("what is resident stays under the limit however blocks are cut") {
    constexpr uint64_t limit = 16 * mib;
    Heap heap(limit);
    std::mt19937_64 random(7);
    std::vector<std::pair<uint64_t, uint64_t>> blocks;
    for (int i = 0; i < 3000; ++i) {
        const uint64_t bytes = 1 + random() % (i % 50 == 0 ? 6 * mib : 40000);
        if (const uint64_t block = take(heap, bytes)) {
            std::memset(reinterpret_cast<void*>(block), 1, bytes);
            blocks.emplace_back(block, bytes);
        }
        if (!blocks.empty() && random() % 100 < 45) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            REQUIRE(give(heap, blocks.back().first, blocks.back().second) == Heap::Freed::ok);
            blocks.pop_back();
        }
        const Heap::Stats stats = heap.stats();
        REQUIRE(stats.used_bytes + stats.cached_bytes <= limit);
        REQUIRE(stats.live == blocks.size());
    }
    // Half pages next to live blocks can not go back.
    REQUIRE(resident_bytes(heap) <= limit + blocks.size() * 2 * 4096 + window_bytes);
}

TEST_CASE("100,000 random allocations and frees keep every block its own") {
    Heap heap(24 * mib);
    std::mt19937_64 random(3);
    std::vector<Canary> live;
    uint64_t used = 0;
    for (uint64_t i = 0; i < 100'000; ++i) {
        const uint64_t bytes = 1 + random() % (i % 97 == 0 ? mib : 512);
        if (used + bytes < 16 * mib && (live.size() < 200 || random() % 2 == 0)) {
            const Canary block{take(heap, bytes), bytes, i};
            REQUIRE(block.address != 0);  // 70 % of the limit is always to be had
            std::memcpy(reinterpret_cast<void*>(block.address), &block.seed, std::min<uint64_t>(bytes, 8));
            reinterpret_cast<uint8_t*>(block.address)[bytes - 1] = static_cast<uint8_t>(i);
            live.push_back(block);
            used += bytes;
            continue;
        }
        std::swap(live[random() % live.size()], live.back());
        const Canary block = live.back();
        live.pop_back();
        used -= block.bytes;
        REQUIRE(reinterpret_cast<uint8_t*>(block.address)[block.bytes - 1] == static_cast<uint8_t>(block.seed));
        if (block.bytes > 8) {
            REQUIRE(std::memcmp(reinterpret_cast<void*>(block.address), &block.seed, 8) == 0);
        }
        REQUIRE(give(heap, block.address, block.bytes) == Heap::Freed::ok);
    }
    for (const Canary& block : live) {
        REQUIRE(give(heap, block.address, block.bytes) == Heap::Freed::ok);
    }
    REQUIRE(heap.stats().used_bytes == 0);
    REQUIRE(take(heap, 24 * mib) != 0);
}

TEST_CASE("threads: blocks stay disjoint, look-ups right, statistics whole") {
    constexpr uint64_t limit = 32 * mib;
    Heap heap(limit);
    std::atomic<bool> done{false};
    std::atomic<int> faults{0};
    std::vector<std::thread> threads;
    for (uint64_t id = 1; id <= 4; ++id) {
        threads.emplace_back([&heap, &faults, id] {
            std::mt19937_64 random(id);
            std::vector<std::pair<uint64_t, uint64_t>> mine;
            for (int i = 0; i < 4000; ++i) {
                const uint64_t bytes = 8 + random() % (i % 64 == 0 ? 300'000 : 2000);
                if (const uint64_t block = take(heap, bytes)) {
                    std::memset(reinterpret_cast<void*>(block), static_cast<int>(id), bytes);
                    mine.emplace_back(block, bytes);
                }
                if (mine.size() > 40) {
                    const size_t victim = random() % mine.size();
                    const auto [block, size] = mine[victim];
                    const auto* bytes_of = reinterpret_cast<uint8_t*>(block);
                    faults += !heap.contains(block + size / 2, size - size / 2) || heap.contains(block, size + 1);
                    faults += bytes_of[0] != id || bytes_of[size - 1] != id;
                    faults += give(heap, block, size) != Heap::Freed::ok;
                    mine[victim] = mine.back();
                    mine.pop_back();
                }
            }
            for (const auto& [block, size] : mine) {
                faults += give(heap, block, size) != Heap::Freed::ok;
            }
        });
    }
    std::thread reader([&] {
        while (!done.load()) {
            const Heap::Stats stats = heap.stats();
            faults += stats.used_bytes + stats.cached_bytes > limit || stats.peak_bytes < stats.used_bytes;
            heap.trim(8 * mib);
        }
    });
    for (std::thread& thread : threads) {
        thread.join();
    }
    done = true;
    reader.join();
    REQUIRE(faults == 0);
    REQUIRE(heap.stats().used_bytes == 0);
    REQUIRE(heap.stats().live == 0);
}

TEST_CASE("one of many threads that free a block is right") {
    Heap heap(4 * mib);
    for (int round = 0; round < 200; ++round) {
        const uint64_t block = take(heap, 5000);
        std::atomic<int> freed{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) {
            threads.emplace_back([&] { freed += give(heap, block) == Heap::Freed::ok; });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        REQUIRE(freed == 1);
    }
}

TEST_CASE("a heap is at least one granule and works at that size") {
    REQUIRE_THROWS(Heap(255));
    Heap heap(256);
    const uint64_t block = take(heap, 256);
    REQUIRE(block != 0);
    REQUIRE(take(heap, 1) == 0);
    std::memset(reinterpret_cast<void*>(block), 1, 256);
    REQUIRE(give(heap, block, 256) == Heap::Freed::ok);
    REQUIRE(take(heap, 1) == block);
}

TEST_CASE("a limit that is no whole number of huge pages can be had in full") {
    Heap heap(3 * mib + 512);
    REQUIRE(take(heap, 3 * mib) != 0);
    REQUIRE(take(heap, 512) != 0);
    REQUIRE(take(heap, 1) == 0);
}

}  // namespace
}  // namespace hal::cpu

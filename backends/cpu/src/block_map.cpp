#include "block_map.hpp"

#include <sys/mman.h>

#include <bit>
#include <new>

namespace hal::cpu {

// One sparse mapping for everything: only what is written takes memory, and fresh pages are zero, which is the empty
// map.
BlockMap::BlockMap(uint64_t granules) {
    size_t words[level_count];
    size_t total = granules * sizeof(Entry);
    uint64_t count = granules;
    for (size_t& level : words) {
        count = (count + 63) / 64;
        level = count;
        total += count * sizeof(uint64_t);
    }
    void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    madvise(memory, total, MADV_NOHUGEPAGE);  // huge pages would defeat the sparseness
    mapping_ = memory;
    mapping_bytes_ = total;
    entries_ = static_cast<Entry*>(memory);
    auto* next = reinterpret_cast<std::atomic<uint64_t>*>(entries_ + granules);
    for (int level = 0; level < level_count; ++level) {
        levels_[level] = next;
        next += words[level];
    }
}

BlockMap::~BlockMap() {
    munmap(mapping_, mapping_bytes_);
}

std::optional<uint32_t> BlockMap::start_of(uint32_t granule) const noexcept {
    // Up: the nearest set bit at or before the granule, level by level. The granule's own bit counts, those of the
    // words that led here do not.
    uint64_t index = granule;
    uint64_t word = levels_[0][index / 64].load(std::memory_order_acquire) & (~uint64_t{0} >> (63 - index % 64));
    int level = 0;
    while (word == 0) {
        index /= 64;
        if (++level == level_count) {
            return std::nullopt;
        }
        word = levels_[level][index / 64].load(std::memory_order_acquire) & ((uint64_t{1} << index % 64) - 1);
    }
    // Down: the last set bit of each word.
    for (;;) {
        index = index / 64 * 64 + static_cast<uint64_t>(63 - std::countl_zero(word));
        if (level == 0) {
            return static_cast<uint32_t>(index);
        }
        word = levels_[--level][index].load(std::memory_order_acquire);
        if (word == 0) {  // it went while we looked: nobody holds a block here
            return std::nullopt;
        }
        index *= 64;
    }
}

void BlockMap::add_start(uint32_t start) noexcept {
    uint64_t index = start;
    for (auto* level : levels_) {
        auto& word = level[index / 64];
        const uint64_t before = word.load(std::memory_order_relaxed);
        word.store(before | uint64_t{1} << index % 64, std::memory_order_release);
        if (before != 0) {
            return;
        }
        index /= 64;
    }
}

void BlockMap::remove_start(uint32_t start) noexcept {
    uint64_t index = start;
    for (auto* level : levels_) {
        auto& word = level[index / 64];
        const uint64_t after = word.load(std::memory_order_relaxed) & ~(uint64_t{1} << index % 64);
        word.store(after, std::memory_order_release);
        if (after != 0) {
            return;
        }
        index /= 64;
    }
}

}  // namespace hal::cpu

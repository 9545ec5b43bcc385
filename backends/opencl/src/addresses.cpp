#include "addresses.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "hal/sdk.hpp"

namespace hal::opencl {
namespace {

void* reserve(uint64_t bytes, int protection) {
    void* const mapping = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                         "reserving " + std::to_string(bytes) + " bytes of addresses: " + std::strerror(errno), errno);
    }
    return mapping;
}

}  // namespace

Addresses::Addresses(uint64_t bytes) : pieces_(pieces_of(bytes)) {
    mapping_ = reserve(pieces_ * piece_bytes + most_alignment, PROT_NONE);
    base_ = (reinterpret_cast<uint64_t>(mapping_) + most_alignment - 1) / most_alignment * most_alignment;
    try {
        table_ = static_cast<std::atomic<Block*>*>(reserve(pieces_ * sizeof *table_, PROT_READ | PROT_WRITE));
    } catch (...) {
        munmap(mapping_, pieces_ * piece_bytes + most_alignment);
        throw;
    }
    free_.emplace(0, pieces_);
}

Addresses::~Addresses() {
    munmap(mapping_, pieces_ * piece_bytes + most_alignment);
    munmap(static_cast<void*>(table_), pieces_ * sizeof *table_);
}

// The first free range with room for the pieces, the one behind them, and what alignment takes.
uint64_t Addresses::take(uint64_t bytes, uint64_t alignment) {
    const uint64_t step = std::max<uint64_t>(alignment / piece_bytes, 1);
    const uint64_t wanted = pieces_of(bytes) + 1;
    for (auto range = free_.begin(); range != free_.end(); ++range) {
        const auto [begin, count] = *range;
        const uint64_t skipped = (step - begin % step) % step;
        if (count < wanted + skipped) {
            continue;
        }
        free_.erase(range);
        if (skipped != 0) {
            free_.emplace(begin, skipped);
        }
        if (count > wanted + skipped) {
            free_.emplace(begin + skipped + wanted, count - wanted - skipped);
        }
        return base_ + (begin + skipped) * piece_bytes;
    }
    return 0;
}

void Addresses::assign(uint64_t address, uint64_t bytes, Block* block) noexcept {
    const uint64_t first = (address - base_) / piece_bytes;
    for (uint64_t i = 0; i < pieces_of(bytes); ++i) {
        table_[first + i].store(block, std::memory_order_release);
    }
}

void Addresses::give_back(uint64_t address, uint64_t bytes) {
    assign(address, bytes, nullptr);
    uint64_t begin = (address - base_) / piece_bytes;
    uint64_t count = pieces_of(bytes) + 1;
    auto behind = free_.lower_bound(begin);
    if (behind != free_.end() && behind->first == begin + count) {
        count += behind->second;
        behind = free_.erase(behind);
    }
    if (behind != free_.begin()) {
        if (const auto before = std::prev(behind); before->first + before->second == begin) {
            before->second += count;
            return;
        }
    }
    free_.emplace(begin, count);
}

}  // namespace hal::opencl

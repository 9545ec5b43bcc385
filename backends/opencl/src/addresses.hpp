// Device addresses for memory that has none of its own: a range reserved in this process, so that no pointer of the
// host can be taken for one of them, and a table that finds the allocation behind any of its addresses.
//
// The table has a word for each 64 KiB of addresses; a reader takes no lock. Between two allocations lies at least one
// such piece that belongs to none, so that an address past the end is noticed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>

namespace hal::opencl {

struct Block;

class Addresses {
  public:
    // Throws sdk::Error OUT_OF_RESOURCES.
    explicit Addresses(uint64_t bytes);
    ~Addresses();
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;

    // Any thread. The block whose pieces hold the address, which may be past its last byte; nullptr for none.
    [[nodiscard]] Block* find(uint64_t address) const noexcept {
        const uint64_t piece = (address - base_) / piece_bytes;
        return piece < pieces_ ? table_[piece].load(std::memory_order_acquire) : nullptr;
    }

    static constexpr uint64_t most_alignment = uint64_t{2} << 20U;

    // One writer at a time. `alignment` is a power of two up to most_alignment. 0 if there is no room.
    [[nodiscard]] uint64_t take(uint64_t bytes, uint64_t alignment);
    void assign(uint64_t address, uint64_t bytes, Block* block) noexcept;
    void give_back(uint64_t address, uint64_t bytes);

  private:
    static constexpr uint64_t piece_bytes = uint64_t{64} << 10U;

    [[nodiscard]] static uint64_t pieces_of(uint64_t bytes) noexcept { return (bytes + piece_bytes - 1) / piece_bytes; }

    void* mapping_ = nullptr;
    uint64_t base_ = 0;  // in it, aligned to most_alignment
    uint64_t pieces_ = 0;
    std::atomic<Block*>* table_ = nullptr;
    std::map<uint64_t, uint64_t> free_;  // first piece -> count; neighbours are joined
};

}  // namespace hal::opencl

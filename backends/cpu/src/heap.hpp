// The allocator of one device: blocks of an arena, a limit on what is handed out, statistics.
//
// One mutex guards changes; look-up takes none (block_map.hpp). Freed blocks merge with their free neighbours at once,
// so there are no size classes to flush when memory runs short. Sizes are in bytes, addresses are absolute.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "arena.hpp"
#include "block_map.hpp"
#include "free_lists.hpp"
#include "recent_blocks.hpp"

namespace hal::cpu {

class Heap {
  public:
    // A block as a reader sees it. `bytes` is what the owner asked for.
    struct Found {
        uint64_t base;
        uint64_t bytes;
        BlockState state;
        BlockKind kind;
    };
    enum class Freed { ok, not_live, interior, pending, wrong_kind, wrong_size };
    struct Stats {
        uint64_t limit_bytes;
        uint64_t used_bytes;  // with padding
        uint64_t peak_bytes;
        uint64_t cached_bytes;  // pages of free blocks; used + cached never exceeds the limit
        uint64_t live;
    };

    // The limit is rounded down to whole granules. Throws sdk::Error INVALID_ARGUMENT below one granule,
    // OUT_OF_RESOURCES.
    explicit Heap(uint64_t limit_bytes);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    // 0 if the limit or the room does not allow it. bytes > 0; alignment a power of two up to window_bytes.
    [[nodiscard]] uint64_t allocate(uint64_t bytes, uint64_t alignment, BlockKind kind) noexcept;

    // Frees nothing unless ok. bytes 0: not checked.
    [[nodiscard]] Freed release(uint64_t address, uint64_t bytes, BlockKind kind) noexcept;

    // A free in stream order: the block is pending from begin_release to finish_release or cancel_release.
    [[nodiscard]] Freed begin_release(uint64_t address) noexcept;
    void finish_release(uint64_t address) noexcept;
    void cancel_release(uint64_t address) noexcept;

    // Any thread, no lock. The block, live or not, that holds the address.
    [[nodiscard]] std::optional<Found> find(uint64_t address) const noexcept {
        const uint64_t offset = address - arena_.base();
        if (offset >= arena_.span_bytes()) {
            return std::nullopt;
        }
        return find_in_span(static_cast<uint32_t>(offset / granule_bytes));
    }

    // Any thread, no lock. Does [address, address + bytes) lie in one live block?
    [[nodiscard]] bool contains(uint64_t address, uint64_t bytes) const noexcept {
        const auto found = find(address);
        return found && found->state == BlockState::live && address - found->base <= found->bytes &&
               bytes <= found->bytes - (address - found->base);
    }

    // Before a range of a live block is written for the first time: a hint, see Arena::make_huge.
    void make_huge(uint64_t address, uint64_t bytes) noexcept { arena_.make_huge(address - arena_.base(), bytes); }

    [[nodiscard]] Stats stats() const noexcept;
    [[nodiscard]] uint64_t largest_free_bytes() const noexcept;  // what one allocation could get without growing
    void reset_peak() noexcept;
    void trim(uint64_t keep_bytes) noexcept;

    [[nodiscard]] uint64_t limit_bytes() const noexcept { return limit_ * granule_bytes; }
    [[nodiscard]] const Arena& arena() const noexcept { return arena_; }

  private:
    struct Range {
        uint64_t offset = 0;
        uint64_t bytes = 0;
    };

    [[nodiscard]] std::optional<Found> find_in_span(uint32_t granule) const noexcept;
    [[nodiscard]] Freed check_release(uint64_t address, uint32_t& out_start, Block& out_block) const noexcept;
    // The following want the mutex.
    uint32_t find_or_extend(uint32_t granules, Range& out_fresh) noexcept;
    uint64_t plan_growth(uint64_t missing) noexcept;
    uint32_t extend(uint32_t granules, Range& out_fresh) noexcept;
    void carve(uint32_t start, uint32_t skip, Block live) noexcept;
    void add_free(uint32_t start, uint32_t granules, BlockState state) noexcept;
    Block take_free(uint32_t start) noexcept;
    void account(uint32_t granules) noexcept;
    void release_block(uint32_t start, Block block) noexcept;
    void merge(uint32_t start, uint32_t granules) noexcept;
    void merge_recent() noexcept;
    void trim_to(uint64_t keep) noexcept;

    const uint64_t limit_;  // this and the counts below are in granules
    Arena arena_;
    BlockMap map_;
    FreeLists lists_;
    RecentBlocks recent_;
    mutable std::mutex mutex_;  // guards everything below, and changes of the map and the lists
    uint64_t top_ = 0;
    uint64_t used_ = 0;
    uint64_t peak_ = 0;
    uint64_t cached_ = 0;
    uint64_t live_ = 0;
};

}  // namespace hal::cpu

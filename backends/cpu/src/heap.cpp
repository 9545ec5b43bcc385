#include "heap.hpp"

#include <algorithm>

#include "hal/sdk.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) (static_cast<void>(address), static_cast<void>(size))
#endif

namespace hal::cpu {
namespace {

// Addresses are four times the limit, so that fragmentation costs addresses rather than memory.
constexpr uint64_t span_factor = 4;

// An allocation makes at most this much huge itself, to bound its time (about 15 ms); copies and first touch do the
// rest.
constexpr uint64_t eager_bytes = uint64_t{256} << 20;

constexpr uint64_t window_granules = window_bytes / granule_bytes;

uint64_t whole_windows(uint64_t granules) noexcept {
    return (granules + window_granules - 1) / window_granules * window_granules;
}

uint64_t granules_of(uint64_t limit_bytes) {
    if (limit_bytes < granule_bytes) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "a device's memory limit is at least " +
                                                         std::to_string(granule_bytes) + " bytes, " +
                                                         std::to_string(limit_bytes) + " were given");
    }
    return std::min(limit_bytes / granule_bytes, max_granules / window_granules * window_granules);
}

uint64_t span_of(uint64_t limit) {
    const uint64_t most = max_granules / window_granules * window_granules;
    return std::min(most, whole_windows(limit) * span_factor) * granule_bytes;
}

}  // namespace

Heap::Heap(uint64_t limit_bytes)
    : limit_(granules_of(limit_bytes)),
      arena_(span_of(limit_)),
      map_(arena_.span_bytes() / granule_bytes),
      lists_(map_),
      recent_(map_) {}

Heap::~Heap() {
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(arena_.base()), top_ * granule_bytes);
}

uint64_t Heap::allocate(uint64_t bytes, uint64_t alignment, BlockKind kind) noexcept {
    if (bytes > limit_ * granule_bytes) {
        return 0;
    }
    const auto granules = static_cast<uint32_t>((bytes + granule_bytes - 1) / granule_bytes);
    const auto step = static_cast<uint32_t>(std::max(alignment, granule_bytes) / granule_bytes);
    const auto slack = static_cast<uint8_t>(granules * granule_bytes - bytes);
    const Block live{granules, slack, BlockState::live, kind};
    Range fresh;
    uint32_t start = 0;
    {
        const std::lock_guard lock(mutex_);
        if (granules > limit_ - used_) {
            return 0;
        }
        start = step == 1 ? recent_.pop(granules) : RecentBlocks::none;
        if (start != RecentBlocks::none) {
            cached_ -= granules;
            map_.put(start, live);
        } else {
            const uint32_t free_block = find_or_extend(granules + step - 1, fresh);
            if (free_block == FreeLists::none) {
                return 0;
            }
            start = (free_block + step - 1) / step * step;
            carve(free_block, start - free_block, live);
        }
        account(granules);
    }
    if (fresh.bytes != 0) {
        arena_.make_huge(fresh.offset, std::min(fresh.bytes, eager_bytes));
    }
    const uint64_t address = arena_.base() + start * granule_bytes;
    ASAN_UNPOISON_MEMORY_REGION(reinterpret_cast<void*>(address), bytes);
    return address;
}

void Heap::account(uint32_t granules) noexcept {
    used_ += granules;
    ++live_;
    peak_ = std::max(peak_, used_);
    if (used_ + cached_ > limit_) {  // the block was no cached one
        trim_to(limit_ - used_);
    }
}

uint32_t Heap::find_or_extend(uint32_t granules, Range& out_fresh) noexcept {
    uint32_t start = lists_.find(granules);
    if (start == FreeLists::none) {
        merge_recent();
        start = lists_.find(granules);
    }
    if (start == FreeLists::none) {
        return extend(granules, out_fresh);
    }
    if (map_.get(start).state == BlockState::free_clean) {
        out_fresh = {start * granule_bytes, granules * granule_bytes};
    }
    return start;
}

// How much to grow for a block that lacks `missing`; makes room under the limit for it. 0: the addresses are used up.
uint64_t Heap::plan_growth(uint64_t missing) noexcept {
    const uint64_t room = arena_.span_bytes() / granule_bytes - top_;
    // Whole windows, so that small blocks lie in huge pages too; and for small blocks half of what is there, up to 32
    // MiB, so that a growing heap asks the kernel seldom.
    const uint64_t enough = whole_windows(missing);
    const uint64_t ahead = std::max(enough, std::min(whole_windows(top_ / 2), 16 * window_granules));
    for (const uint64_t added : {ahead, enough}) {
        if (used_ + cached_ + added <= limit_ && added <= room) {
            return added;
        }
    }
    trim_to(limit_ - used_ - std::min(enough, limit_ - used_));
    if (used_ + cached_ + enough <= limit_ && enough <= room) {
        return enough;
    }
    return missing <= room ? missing : 0;
}

// Makes a free block of at least `granules` at the end.
uint32_t Heap::extend(uint32_t granules, Range& out_fresh) noexcept {
    // The last block may be free; then it is the beginning of ours.
    auto start = static_cast<uint32_t>(top_);
    Block last{};
    if (top_ != 0) {
        const uint32_t last_start = *map_.start_of(static_cast<uint32_t>(top_ - 1));
        if (map_.get(last_start).is_listed()) {
            last = map_.get(last_start);
            start = last_start;
        }
    }
    const uint64_t added = plan_growth(granules - last.granules);
    if (added == 0 || !arena_.grow((top_ + added) * granule_bytes)) {
        return FreeLists::none;
    }
    if (last.granules != 0) {
        last = take_free(start);  // its state may have changed meanwhile
    }
    ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(arena_.base() + top_ * granule_bytes), added * granule_bytes);
    out_fresh = {top_ * granule_bytes, added * granule_bytes};
    top_ += added;
    // Alignment may ask for more than the limit has left; such a block cannot count as cached.
    const bool fits = used_ + cached_ + last.granules + added <= limit_;
    add_free(start, static_cast<uint32_t>(last.granules + added),
             fits ? BlockState::free_dirty : BlockState::free_clean);
    return start;
}

// Turns part of a free block into a live one: `skip` granules before it and what is left behind it stay free.
void Heap::carve(uint32_t start, uint32_t skip, Block live) noexcept {
    const Block whole = take_free(start);
    const uint32_t rest = whole.granules - skip - live.granules;
    if (rest != 0) {
        add_free(start + skip + live.granules, rest, whole.state);
    }
    map_.put(start + skip, live);
    if (skip != 0) {
        map_.add_start(start + skip);
        add_free(start, skip, whole.state);
    }
}

void Heap::add_free(uint32_t start, uint32_t granules, BlockState state) noexcept {
    map_.put(start, {granules, 0, state, BlockKind::device});
    map_.add_start(start);
    lists_.add(start, granules);
    if (state == BlockState::free_dirty) {
        cached_ += granules;
    }
}

// Out of the lists; its start stays marked.
Block Heap::take_free(uint32_t start) noexcept {
    const Block block = map_.get(start);
    lists_.remove(start, block.granules);
    if (block.state == BlockState::free_dirty) {
        cached_ -= block.granules;
    }
    return block;
}

Heap::Freed Heap::check_release(uint64_t address, uint32_t& out_start, Block& out_block) const noexcept {
    const auto found = find(address);
    if (!found || (found->state != BlockState::live && found->state != BlockState::pending)) {
        return Freed::not_live;
    }
    if (found->base != address) {
        return Freed::interior;
    }
    if (found->state == BlockState::pending) {
        return Freed::pending;
    }
    out_start = static_cast<uint32_t>((address - arena_.base()) / granule_bytes);
    out_block = map_.get(out_start);
    return Freed::ok;
}

Heap::Freed Heap::release(uint64_t address, uint64_t bytes, BlockKind kind) noexcept {
    const std::lock_guard lock(mutex_);
    uint32_t start = 0;
    Block block;
    if (const Freed freed = check_release(address, start, block); freed != Freed::ok) {
        return freed;
    }
    if (block.kind != kind) {
        return Freed::wrong_kind;
    }
    if (bytes != 0 && bytes != block.asked_bytes()) {
        return Freed::wrong_size;
    }
    release_block(start, block);
    return Freed::ok;
}

void Heap::release_block(uint32_t start, Block block) noexcept {
    ASAN_POISON_MEMORY_REGION(reinterpret_cast<void*>(arena_.base() + start * granule_bytes),
                              block.granules * granule_bytes);
    used_ -= block.granules;
    --live_;
    if (recent_.push(start, block.granules)) {
        map_.put(start, {block.granules, 0, BlockState::recent, BlockKind::device});
        cached_ += block.granules;
        return;
    }
    merge(start, block.granules);
}

// Into the free lists, as one block with its free neighbours.
void Heap::merge(uint32_t start, uint32_t granules) noexcept {
    const uint32_t next = start + granules;
    if (next < top_ && map_.get(next).is_listed()) {
        granules += take_free(next).granules;
        map_.remove_start(next);
    }
    if (start != 0) {
        const uint32_t previous = *map_.start_of(start - 1);
        if (map_.get(previous).is_listed()) {
            granules += take_free(previous).granules;
            map_.remove_start(start);
            start = previous;
        }
    }
    add_free(start, granules, BlockState::free_dirty);
    if (used_ + cached_ > limit_) {  // a clean neighbour counts as cached now
        trim_to(limit_ - used_);
    }
}

void Heap::merge_recent() noexcept {
    recent_.drain([this](uint32_t start) {
        const uint32_t granules = map_.get(start).granules;
        cached_ -= granules;
        merge(start, granules);
    });
}

Heap::Freed Heap::begin_release(uint64_t address) noexcept {
    const std::lock_guard lock(mutex_);
    uint32_t start = 0;
    Block block;
    if (const Freed freed = check_release(address, start, block); freed != Freed::ok) {
        return freed;
    }
    if (block.kind != BlockKind::device) {
        return Freed::wrong_kind;
    }
    block.state = BlockState::pending;
    map_.put(start, block);
    return Freed::ok;
}

void Heap::finish_release(uint64_t address) noexcept {
    const std::lock_guard lock(mutex_);
    const auto start = static_cast<uint32_t>((address - arena_.base()) / granule_bytes);
    release_block(start, map_.get(start));
}

void Heap::cancel_release(uint64_t address) noexcept {
    const std::lock_guard lock(mutex_);
    const auto start = static_cast<uint32_t>((address - arena_.base()) / granule_bytes);
    Block block = map_.get(start);
    block.state = BlockState::live;
    map_.put(start, block);
}

std::optional<Heap::Found> Heap::find_in_span(uint32_t granule) const noexcept {
    const auto start = map_.start_of(granule);
    if (!start) {
        return std::nullopt;
    }
    const Block block = map_.get(*start);
    if (granule - *start >= block.granules) {
        return std::nullopt;
    }
    return Found{arena_.base() + *start * granule_bytes, block.asked_bytes(), block.state, block.kind};
}

Heap::Stats Heap::stats() const noexcept {
    const std::lock_guard lock(mutex_);
    return {limit_ * granule_bytes, used_ * granule_bytes, peak_ * granule_bytes, cached_ * granule_bytes, live_};
}

uint64_t Heap::largest_free_bytes() const noexcept {
    const std::lock_guard lock(mutex_);
    const uint32_t start = lists_.find_largest();
    const uint64_t kept = start == FreeLists::none ? 0 : map_.get(start).granules;
    return std::min(limit_ - used_, std::max(kept, arena_.span_bytes() / granule_bytes - top_)) * granule_bytes;
}

void Heap::reset_peak() noexcept {
    const std::lock_guard lock(mutex_);
    peak_ = used_;
}

void Heap::trim(uint64_t keep_bytes) noexcept {
    const std::lock_guard lock(mutex_);
    trim_to(keep_bytes / granule_bytes);
}

// Gives pages of free blocks back until no more than `keep` granules are cached.
void Heap::trim_to(uint64_t keep) noexcept {
    if (cached_ > keep) {
        merge_recent();
    }
    lists_.for_each_largest_first([&](uint32_t start) {
        if (cached_ <= keep) {
            return false;
        }
        Block block = map_.get(start);
        if (block.state == BlockState::free_dirty) {
            arena_.discard(start * granule_bytes, block.granules * granule_bytes);
            block.state = BlockState::free_clean;
            map_.put(start, block);
            cached_ -= block.granules;
        }
        return true;
    });
}

}  // namespace hal::cpu

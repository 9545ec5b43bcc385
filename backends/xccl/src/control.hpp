// The memory that the ranks of one host share besides their arenas: what each says of its operations, how far it is,
// small data, and whether all is over. Nothing in it is a pointer.
//
// Nothing that another rank writes is trusted to be in range: a rank that writes nonsense may spoil results, but a
// location is checked against the arena before it is used.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hal/xccl.h"

namespace hal::xccl {

inline constexpr int32_t most_ranks_of_host = 256;
inline constexpr uint64_t slot_bytes = 8192;
inline constexpr uint64_t staging_bytes = uint64_t{2} << 20U;           // of a rank and direction
inline constexpr uint64_t channel_staging_bytes = uint64_t{64} << 10U;  // of a pair of ranks
inline constexpr uint64_t exchange_bytes = uint64_t{8} << 20U;          // what goes to other hosts and comes from them
inline constexpr uint64_t setup_steps = 2;
inline constexpr uint32_t no_arena = UINT32_MAX;
inline constexpr uint32_t shared_arena = UINT32_MAX - 1;
inline constexpr uint32_t private_memory = UINT32_MAX - 2;

enum class Kind : uint32_t {
    none,
    all_reduce,
    broadcast,
    reduce,
    all_gather,
    reduce_scatter,
    barrier,
    alltoall,
    gather,
    scatter,
    exchange,  // of a few bytes between the engines themselves
};
inline constexpr const char* kind_names[] = {"none",       "all_reduce",     "broadcast", "reduce",
                                             "all_gather", "reduce_scatter", "barrier",   "alltoall",
                                             "gather",     "scatter",        "exchange"};

// What must be the same on all ranks.
struct Call {
    Kind kind = Kind::none;
    hal_dtype dtype = 0;
    hal_reduce_op op = 0;
    int32_t root = -1;
    uint64_t count = 0;

    friend bool operator==(const Call&, const Call&) = default;
};

// Bytes in the arena of a rank or in what all share; or (private_memory) at an address of the rank's process, which the
// others have not mapped: they go through the rank's staging memory, or by a copy that the kernel makes; or (no_arena)
// none.
struct Location {
    uint32_t arena = no_arena;
    uint32_t reserved = 0;
    uint64_t offset = 0;

    [[nodiscard]] bool is_private() const noexcept { return arena == private_memory; }
};

// Of a rank; two, used in turn, so that the next operation may begin while a slow rank still reads the last one's data.
// Eight bytes of data travel with the sequence in one cache line.
struct alignas(64) Slot {
    static constexpr uint64_t data_bytes = slot_bytes - 32;

    std::atomic<uint64_t> sequence;  // of the operation that is described; written last
    Call call;
    union {
        struct {
            Location send, recv;
        } at;
        std::byte data[data_bytes];
    };
};
static_assert(sizeof(Slot) == slot_bytes);

// How many steps of operations a rank has done; and, written before the first, where others may try to read its memory.
struct alignas(64) Progress {
    std::atomic<uint64_t> step;
    int32_t process;
    uint64_t probe;   // address of a word
    uint64_t probed;  // which holds this
};

// From one rank to another: the oldest message that has not been taken. Padded on purpose: a line for each writer.
struct alignas(64) Channel {       // NOLINT(clang-analyzer-optin.performance.Padding)
    std::atomic<uint64_t> posted;  // number of the message below; from 1
    uint64_t count;
    uint64_t bytes;
    Location from;
    hal_dtype dtype;
    alignas(64) std::atomic<uint64_t> taken;
    // For memory that the receiver cannot reach: bytes put into and taken out of the channel's staging memory.
    alignas(64) std::atomic<uint64_t> filled;
    alignas(64) std::atomic<uint64_t> drained;
};

struct Header {
    // The first failure: status in the low half, rank + 1 in the high one. 0: none.
    alignas(64) std::atomic<uint64_t> failure;
    alignas(64) std::atomic<uint32_t> sleepers;  // threads that sleep on the bell or are about to
    alignas(64) std::atomic<uint32_t> bell;
    std::atomic<uint32_t> without_membarrier;  // ranks; written before they have met
    std::atomic<uint32_t> without_reads;       // ranks that cannot read another one's memory; before the second step
};

// Where each of them lies.
class Layout {
  public:
    explicit Layout(int32_t ranks) noexcept : ranks_(static_cast<uint64_t>(ranks)) {}

    [[nodiscard]] uint64_t progress(uint64_t rank) const noexcept { return 4096 + rank * sizeof(Progress); }
    [[nodiscard]] uint64_t slot(uint64_t rank, uint64_t turn) const noexcept {
        return progress(ranks_) + (rank * 2 + turn) * sizeof(Slot);
    }
    [[nodiscard]] uint64_t channel(uint64_t from, uint64_t to) const noexcept {
        return slot(ranks_, 0) + (from * ranks_ + to) * sizeof(Channel);
    }
    [[nodiscard]] uint64_t staging(uint64_t rank, bool recv) const noexcept {
        return channel(ranks_, 0) + (rank * 2 + (recv ? 1 : 0)) * staging_bytes;
    }
    [[nodiscard]] uint64_t channel_staging(uint64_t from, uint64_t to) const noexcept {
        return staging(ranks_, false) + (from * ranks_ + to) * channel_staging_bytes;
    }
    [[nodiscard]] uint64_t exchange_area() const noexcept { return channel_staging(ranks_, 0); }
    [[nodiscard]] uint64_t bytes() const noexcept { return exchange_area() + exchange_bytes; }

  private:
    uint64_t ranks_;
};

}  // namespace hal::xccl

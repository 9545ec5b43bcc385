#include "collective.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "partial.hpp"

namespace hal::xccl {
namespace {

// Beyond this a result is written past the caches, which it would only flush.
constexpr uint64_t stream_from_bytes = uint64_t{8} << 20U;

// Blocks of a rank's buffer, as this process sees them. Not initialised: there are many, and few are used.
struct View {
    std::byte* base;
    uint64_t stride;  // from block to block
    bool remote;      // an address of the rank's process, which only the kernel can read

    [[nodiscard]] std::byte* block(int32_t index) const noexcept {
        return base + static_cast<uint64_t>(index) * stride;
    }
};

class Run {
  public:
    Run(const Host& host, const Operation& operation, Counters& counters, const std::function<bool()>& idle)
        : host_(host),
          operation_(operation),
          call_(operation.call),
          sequence_(++counters.sequence),
          counters_(counters),
          idle_(idle),
          ranks_(host.size()),
          me_(host.rank()),
          item_(call_.dtype == 0 ? 0 : element_bytes(call_.dtype)),
          recv_item_(operation.partial ? partial_bytes(call_.dtype, call_.op) : item_) {}

    void agree() {
        bring();
        meet();
    }
    void all() {
        const uint64_t largest = std::max(send_blocks(call_.kind, true, static_cast<uint64_t>(ranks_)), uint64_t{1});
        const bool small = call_.count <= (Slot::data_bytes - scalar_room()) / (largest * std::max<uint64_t>(item_, 1));
        if (small) {
            bring_data();
        } else {
            bring_location();
        }
        meet();
        if (small) {
            work_on_slots();
        } else if (needs_staging()) {
            work_on_chunks();
        } else {
            work_in_place();
            step();
        }
    }

  private:
    [[nodiscard]] bool root(int32_t rank) const noexcept { return rank == call_.root; }
    [[nodiscard]] uint64_t sends(int32_t rank) const noexcept {
        return send_blocks(call_.kind, root(rank), static_cast<uint64_t>(ranks_));
    }
    [[nodiscard]] uint64_t receives(int32_t rank) const noexcept {
        return recv_blocks(call_.kind, root(rank), static_cast<uint64_t>(ranks_));
    }
    [[nodiscard]] uint64_t bytes() const noexcept { return call_.count * item_; }
    [[nodiscard]] uint64_t recv_bytes() const noexcept { return call_.count * recv_item_; }
    // PREMUL_SUM: each rank's factor lies at the end of its slot.
    [[nodiscard]] uint64_t scalar_room() const noexcept { return operation_.scalar.empty() ? 0 : 16; }
    [[nodiscard]] Slot& slot(int32_t rank) const noexcept { return host_.slot(rank, sequence_); }

    // ---- What this rank brings ----

    void bring_data() {
        if (const uint64_t size = sends(me_) * bytes(); size != 0) {
            std::memcpy(slot(me_).data, operation_.send, size);
        }
        bring();
    }
    void bring_location() {
        Slot& mine = slot(me_);
        mine.at.send = host_.locate(operation_.send, sends(me_) * bytes());
        mine.at.recv = host_.locate(operation_.recv, receives(me_) * recv_bytes());
        bring();
    }
    void bring() {
        Slot& mine = slot(me_);
        mine.call = call_;
        if (!operation_.scalar.empty()) {
            std::memcpy(mine.data + Slot::data_bytes - scalar_room(), operation_.scalar.data(),
                        operation_.scalar.size());
        }
        host_.publish(mine.sequence, sequence_);
    }

    // Until all have brought theirs, and all of the same call.
    void meet() {
        for (int32_t rank = 0; rank < ranks_; ++rank) {
            host_.wait(rank, slot(rank).sequence, sequence_, idle_);
            if (slot(rank).call != call_) [[unlikely]] {
                host_.fail(HAL_ERROR_INVALID_ARGUMENT, rank);
                host_.throw_if_failed();
            }
        }
    }
    void step() { next_step(host_, counters_, idle_); }

    // ---- The work, on elements [first, first + n) of each block ----

    using Views = std::array<View, most_ranks_of_host>;

    // The whole result into own memory, from the others' slots.
    void work_on_slots() {
        Views from;
        for (int32_t rank = 0; rank < ranks_; ++rank) {
            from[static_cast<size_t>(rank)] = View{slot(rank).data, bytes()};
        }
        const View to{operation_.recv, recv_bytes()};
        if (reduces() && receives(me_) != 0) {
            std::byte* const target = to.base;
            const int32_t block = call_.kind == Kind::reduce_scatter ? me_ : 0;
            reduce_into(from, block, 0, call_.count, std::span(&target, 1));
        } else if (!reduces()) {
            move(from, to, call_.count);
        }
    }

    // In the arenas of all ranks. Of a reduction each rank does a part and writes it to all who want it.
    void work_in_place() {
        Views from;
        Views to;
        for (int32_t rank = 0; rank < ranks_; ++rank) {
            from[static_cast<size_t>(rank)] = view(slot(rank).at.send, sends(rank), bytes());
            to[static_cast<size_t>(rank)] = view(slot(rank).at.recv, receives(rank), recv_bytes());
        }
        work(from, to, call_.count);
    }
    [[nodiscard]] View view(const Location& location, uint64_t blocks, uint64_t bytes) const {
        if (blocks == 0 || bytes == 0) {
            return {};
        }
        if (location.is_private()) {
            return {reinterpret_cast<std::byte*>(location.offset), bytes, true};
        }
        return {host_.reach(location, blocks * bytes), bytes};
    }

    void work(const Views& from, const Views& to, uint64_t n) {
        if (!reduces()) {
            move(from, to[static_cast<size_t>(me_)], n);
        } else if (call_.kind == Kind::reduce_scatter) {
            std::byte* const target = to[static_cast<size_t>(me_)].base;
            reduce_into(from, me_, 0, n, std::span(&target, 1));
        } else {
            reduce_slice(from, to, n);
        }
    }

    void reduce_slice(const Views& from, const Views& to, uint64_t n) {
        const uint64_t line = 64 / std::min<uint64_t>(item_, 64);
        const uint64_t share = (n / static_cast<uint64_t>(ranks_) + line) / line * line;
        const uint64_t first = std::min(n, static_cast<uint64_t>(me_) * share);
        const uint64_t count = std::min(n - first, share);
        std::array<std::byte*, most_ranks_of_host> targets;
        size_t wanted = 0;
        for (int32_t rank = 0; rank < ranks_; ++rank) {
            if (receives(rank) != 0) {
                targets[wanted++] = to[static_cast<size_t>(rank)].base + first * recv_item_;
            }
        }
        reduce_into(from, 0, first, count, std::span(targets.data(), wanted));
    }

    [[nodiscard]] bool reduces() const noexcept {
        return call_.kind == Kind::all_reduce || call_.kind == Kind::reduce || call_.kind == Kind::reduce_scatter;
    }

    void reduce_into(const Views& from, int32_t block, uint64_t first, uint64_t count,
                     std::span<std::byte* const> targets) {
        std::array<const std::byte*, most_ranks_of_host> sources;
        std::array<std::byte, size_t{most_ranks_of_host} * 8> scalars;
        for (int32_t rank = 0; rank < ranks_; ++rank) {
            const auto i = static_cast<size_t>(rank);
            sources[i] = from[i].block(block) + first * item_;
            if (!operation_.scalar.empty()) {
                std::memcpy(scalars.data() + i * item_, slot(rank).data + Slot::data_bytes - scalar_room(), item_);
            }
        }
        const Reduction reduction{.dtype = call_.dtype,
                                  .op = call_.op,
                                  .sources = std::span(sources.data(), static_cast<size_t>(ranks_)),
                                  .targets = targets,
                                  .count = count,
                                  .scalars = scalars.data(),
                                  .stream = bytes() >= stream_from_bytes};
        operation_.partial ? reduce_to_partial(reduction) : reduce(reduction);
    }

    // Into own blocks, beginning with the next rank's so that not all read the same one.
    void move(const Views& from, const View& to, uint64_t n) {
        if (n == 0) {
            return;
        }
        switch (call_.kind) {
            case Kind::broadcast:
                return move_block(from, call_.root, 0, to.base, n);
            case Kind::scatter:
                return move_block(from, call_.root, me_, to.base, n);
            default:
                break;
        }
        for (int32_t i = 1; i <= ranks_ && receives(me_) != 0; ++i) {
            const int32_t rank = (me_ + i) % ranks_;
            move_block(from, rank, call_.kind == Kind::alltoall ? me_ : 0, to.block(rank), n);
        }
    }
    void move_block(const Views& from, int32_t rank, int32_t block, std::byte* target, uint64_t n) const {
        const View& view = from[static_cast<size_t>(rank)];
        const std::byte* const source = view.block(block);
        if (view.remote && rank != me_) {
            host_.read_private(rank, target, reinterpret_cast<uint64_t>(source), n * item_);
        } else if (source != target) {
            copy(target, source, n * item_, bytes() >= stream_from_bytes);
        }
    }

    // ---- Memory that the others cannot reach ----

    // Whoever moves data writes to own memory only, and may be able to read the others'.
    [[nodiscard]] bool needs_staging() const noexcept {
        if (!reduces() && host_.reads_private()) {
            return false;
        }
        for (int32_t rank = 0; rank < ranks_; ++rank) {
            if (slot(rank).at.send.is_private() || slot(rank).at.recv.is_private()) {
                return true;
            }
        }
        return false;
    }

    // Chunk by chunk through staging memory, by the ranks that need it; the others work where their data lie.
    void work_on_chunks() {
        const uint64_t chunk = staging_bytes / (static_cast<uint64_t>(ranks_) * std::max(item_, recv_item_));
        for (uint64_t first = 0; first < call_.count; first += chunk) {
            const uint64_t n = std::min(chunk, call_.count - first);
            if (slot(me_).at.send.is_private()) {
                move_blocks(View{host_.staging(me_, false), n * item_}, {operation_.send + first * item_, bytes()},
                            sends(me_), n);
            }
            step();
            Views from;
            Views to;
            for (int32_t rank = 0; rank < ranks_; ++rank) {
                from[static_cast<size_t>(rank)] = chunk_view(rank, false, first, n);
                to[static_cast<size_t>(rank)] = chunk_view(rank, true, first, n);
            }
            work(from, to, n);
            step();
            if (slot(me_).at.recv.is_private()) {
                move_blocks({operation_.recv + first * item_, bytes()}, View{host_.staging(me_, true), n * item_},
                            receives(me_), n);  // no partial results: they go to what all share
            }
        }
    }
    [[nodiscard]] View chunk_view(int32_t rank, bool recv, uint64_t first, uint64_t n) const {
        const Location& location = recv ? slot(rank).at.recv : slot(rank).at.send;
        const uint64_t blocks = recv ? receives(rank) : sends(rank);
        const uint64_t item = recv ? recv_item_ : item_;
        if (blocks == 0) {
            return {};
        }
        if (location.is_private()) {
            return {host_.staging(rank, recv), n * item};
        }
        return {host_.reach(location, blocks * call_.count * item) + first * item, call_.count * item};
    }
    void move_blocks(const View& to, const View& from, uint64_t blocks, uint64_t n) const {
        for (uint64_t block = 0; block < blocks; ++block) {
            std::memcpy(to.block(static_cast<int32_t>(block)), from.block(static_cast<int32_t>(block)), n * item_);
        }
    }

    const Host& host_;
    const Operation& operation_;
    const Call& call_;
    const uint64_t sequence_;
    Counters& counters_;
    const std::function<bool()>& idle_;
    const int32_t ranks_;
    const int32_t me_;
    const uint64_t item_;
    const uint64_t recv_item_;
};

}  // namespace

void run_collective(const Host& host, const Operation& operation, Counters& counters,
                    const std::function<bool()>& idle) {
    Run(host, operation, counters, idle).all();
}

void agree(const Host& host, const Call& call, Counters& counters, const std::function<bool()>& idle) {
    Run(host, {.call = call}, counters, idle).agree();
}

void next_step(const Host& host, Counters& counters, const std::function<bool()>& idle) {
    host.publish(host.step(host.rank()), ++counters.step);
    for (int32_t rank = 0; rank < host.size(); ++rank) {
        host.wait(rank, host.step(rank), counters.step, idle);
    }
}

}  // namespace hal::xccl

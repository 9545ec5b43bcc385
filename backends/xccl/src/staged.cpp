#include "staged.hpp"

#include <algorithm>
#include <array>

#include "reduce.hpp"
#include "staging_memory.hpp"

namespace hal::xccl {
namespace {

// A chunk takes at most this much of a rank's staging memory in each direction. Smaller ones begin sooner: a call is
// made of several, down to a size whose copy takes longer than what it costs to begin one.
constexpr uint64_t most_chunk_bytes = uint64_t{4} << 20U;
constexpr uint64_t least_chunk_bytes = uint64_t{1} << 20U;
constexpr uint64_t wanted_chunks = 4;

class StagedRun {
  public:
    StagedRun(const StagedRank& rank, const Operation& operation)
        : rank_(rank),
          operation_(operation),
          count_(operation.call.count),
          item_(element_bytes(operation.call.dtype)),
          sends_(send_blocks(operation.call.kind, rank.rank == operation.call.root, rank.ranks)),
          receives_(recv_blocks(operation.call.kind, rank.rank == operation.call.root, rank.ranks)),
          chunk_(chunk_elements()),
          lanes_(rank.overlap && count_ > chunk_ ? 2 : 1),
          memory_(rank.memory.take(lanes_ * (sends_ + receives_) * chunk_ * item_)) {}

    void all(const std::function<void(const Operation&)>& run) {
        for (uint64_t chunk = 0; chunk + 1 < lanes_; ++chunk) {
            copy_in(chunk);
        }
        for (uint64_t chunk = 0; chunk * chunk_ < count_; ++chunk) {
            copy_in(chunk + lanes_ - 1);
            in_[chunk % lanes_].wait();
            out_[chunk % lanes_].wait();  // its memory is used again
            run(part(chunk));
            copy_out(chunk);
            if (lanes_ == 1) {
                out_[0].wait();  // copies would take cores from each other too
            }
        }
        for (Copies& copies : out_) {
            copies.wait();
        }
    }

  private:
    // Equal on all ranks.
    [[nodiscard]] uint64_t chunk_elements() const noexcept {
        const Kind kind = operation_.call.kind;
        const uint64_t most =
            std::max(send_blocks(kind, true, rank_.ranks), recv_blocks(kind, true, rank_.ranks)) * item_;
        const uint64_t bytes = std::clamp(count_ * most / wanted_chunks, least_chunk_bytes, most_chunk_bytes);
        return std::min(count_, std::max<uint64_t>(bytes / most, 1));
    }
    [[nodiscard]] uint64_t elements(uint64_t chunk) const noexcept { return std::min(chunk_, count_ - chunk * chunk_); }
    [[nodiscard]] Operation part(uint64_t chunk) const {
        Operation part = operation_;
        part.call.count = elements(chunk);
        part.send = memory_.get() + (chunk % lanes_) * (sends_ + receives_) * chunk_ * item_;
        part.recv = part.send + sends_ * chunk_ * item_;
        return part;
    }
    // f(in staging memory, in the device's buffer, bytes) for each block of a chunk.
    template <class F>
    void each_block(uint64_t chunk, uint64_t blocks, std::byte* staged, const std::byte* device_memory, F&& f) const {
        const uint64_t bytes = elements(chunk) * item_;
        for (uint64_t block = 0; block < blocks; ++block) {
            f(staged + block * bytes,
              reinterpret_cast<hal_dptr>(device_memory) + (block * count_ + chunk * chunk_) * item_, bytes);
        }
    }
    void copy_in(uint64_t chunk) {
        if (chunk * chunk_ < count_) {
            each_block(chunk, sends_, part(chunk).send, operation_.send,
                       [&](std::byte* to, hal_dptr from, uint64_t bytes) {
                           in_[chunk % lanes_].add(rank_.port.copy_in(rank_.device, to, from, bytes));
                       });
        }
    }
    void copy_out(uint64_t chunk) {
        each_block(chunk, receives_, part(chunk).recv, operation_.recv,
                   [&](const std::byte* from, hal_dptr to, uint64_t bytes) {
                       out_[chunk % lanes_].add(rank_.port.copy_out(rank_.device, to, from, bytes));
                   });
    }

    const StagedRank& rank_;
    const Operation& operation_;
    const uint64_t count_;
    const uint64_t item_;
    const uint64_t sends_;
    const uint64_t receives_;
    const uint64_t chunk_;
    const uint64_t lanes_;                     // chunks that are under way together
    const std::shared_ptr<std::byte> memory_;  // outlives what is under way in it
    std::array<Copies, 2> in_;                 // of each lane
    std::array<Copies, 2> out_;
};

}  // namespace

void Copies::wait() {
    const auto ended = std::move(under_way_);  // whatever is thrown, the others end with this
    under_way_.clear();
    for (const auto& copy : ended) {
        copy->wait();
    }
}

void run_staged(const StagedRank& rank, const Operation& operation, const std::function<void(const Operation&)>& run) {
    StagedRun(rank, operation).all(run);
}

StagedMessages::StagedMessages(Port& port, hal_dev device, std::vector<Message>& messages)
    : port_(port), device_(device) {
    StagingMemory* const staging = port.staging(device);
    for (Message& message : messages) {
        const uint64_t bytes = message.count * element_bytes(message.dtype);
        if (staging == nullptr || bytes == 0) {
            continue;
        }
        const auto device_memory = reinterpret_cast<hal_dptr>(message.data);
        memory_.push_back(staging->take(bytes));
        message.data = memory_.back().get();
        if (message.send) {
            copies_.add(port.copy_in(device, message.data, device_memory, bytes));
        } else {
            received_.push_back({message.data, device_memory, bytes});
        }
    }
    copies_.wait();
}

void StagedMessages::finish() {
    for (const Received& one : received_) {
        copies_.add(port_.copy_out(device_, one.to, one.from, one.bytes));
    }
    copies_.wait();
}

}  // namespace hal::xccl

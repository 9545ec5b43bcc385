// Collectives and messages of devices whose memory the host does not reach by its address: their data go through
// staging memory.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "operation.hpp"
#include "port.hpp"

namespace hal::xccl {

// Copies that are under way together.
class Copies {
  public:
    void add(std::unique_ptr<Copy> copy) { under_way_.push_back(std::move(copy)); }
    // Until they are done. Throws what one failed with; all have ended then too.
    void wait();

  private:
    std::vector<std::unique_ptr<Copy>> under_way_;
};

struct StagedRank {
    Port& port;
    StagingMemory& memory;
    hal_dev device;
    int32_t rank;
    uint64_t ranks;
    bool overlap;
};
// Chunk by chunk, the same ones on all ranks, whatever buffers they have: run() takes each, in staging memory.
// `overlap`: while it runs one chunk, the next comes from the device and the one before goes to it.
void run_staged(const StagedRank& rank, const Operation& operation, const std::function<void(const Operation&)>& run);

// Messages with staging memory in the place of their own, where the device needs it.
class StagedMessages {
  public:
    // Copies in what is sent.
    StagedMessages(Port& port, hal_dev device, std::vector<Message>& messages);
    // Copies out what was received.
    void finish();

  private:
    struct Received {
        const std::byte* from;
        hal_dptr to;
        uint64_t bytes;
    };
    Port& port_;
    hal_dev device_;
    std::vector<std::shared_ptr<std::byte>> memory_;  // outlives what is under way in it
    std::vector<Received> received_;
    Copies copies_;
};

}  // namespace hal::xccl

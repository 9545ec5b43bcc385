// Host memory that device memory goes through on its way to other ranks, for devices whose memory the host does not
// reach by its address. It lies in one sparse file, which is what the other ranks map.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "mapping.hpp"
#include "socket.hpp"

namespace hal::xccl {

class StagingMemory {
  public:
    // Throws sdk::Error OUT_OF_RESOURCES.
    StagingMemory();
    ~StagingMemory();
    StagingMemory(const StagingMemory&) = delete;
    StagingMemory& operator=(const StagingMemory&) = delete;

    [[nodiscard]] Arena arena() const noexcept { return {file_.get(), reinterpret_cast<uint64_t>(base_), span_bytes}; }

    // Aligned to 64 bytes; given back, pages included, with its last owner, before the StagingMemory itself goes.
    // Throws OUT_OF_HOST_MEMORY.
    [[nodiscard]] std::shared_ptr<std::byte> take(uint64_t bytes);

  private:
    static constexpr uint64_t span_bytes = uint64_t{64} << 30U;  // addresses

    void give_back(uint64_t offset, uint64_t bytes) noexcept;

    File file_;
    std::byte* base_ = nullptr;
    std::mutex mutex_;
    std::map<uint64_t, uint64_t> free_;  // offset -> bytes; neighbours are joined
};

}  // namespace hal::xccl

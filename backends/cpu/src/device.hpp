// One virtual device: an ordinal, a memory of its own and a default stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "hal/sdk.hpp"
#include "stream.hpp"

namespace hal::cpu {

class Instance;

// Defined in memory.hpp, with the four functions below.
class Memory;
struct MemoryDelete {
    void operator()(Memory* memory) const noexcept;
};
using MemoryPtr = std::unique_ptr<Memory, MemoryDelete>;
// Reserves no memory before the first allocation.
[[nodiscard]] MemoryPtr make_memory(Instance& instance, hal_dev device, uint64_t limit_bytes);
// Allocations and imports that the user has not released; finalize is BUSY while there are any.
[[nodiscard]] uint64_t live_allocations(const Memory& memory) noexcept;

class Device {
  public:
    explicit Device(int32_t index) noexcept : ordinal(index) {}

    const int32_t ordinal;
    MemoryPtr memory;  // from initialize to the last finalize
    Stream default_stream;

    // Live objects of the user.
    std::atomic<uint64_t> stream_count{0};
    std::atomic<uint64_t> event_count{0};

    // Of init_device.
    std::mutex init_mutex;
    uint64_t init_count = 0;
};

}  // namespace hal::cpu

// One virtual device: an ordinal, a memory of its own and a default stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "hal/sdk.hpp"
#include "live_objects.hpp"
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

using shared::LiveObjects;

class Device {
  public:
    explicit Device(int32_t index) noexcept : ordinal(index) {}

    // From the instance's first initialize to its last finalize.
    void start(Instance& instance);
    // Drains the default stream; `memory` is the instance's to end, behind the streams of all devices.
    void end_stream() noexcept;

    // init_device and deinit_device: counted.
    void initialize();
    void deinitialize(Instance& instance);

    [[nodiscard]] LiveObjects live_objects() const;

    const int32_t ordinal;
    MemoryPtr memory;
    Stream default_stream;
    std::atomic<uint64_t> stream_count{0};
    std::atomic<uint64_t> event_count{0};

  private:
    std::mutex init_mutex_;
    uint64_t init_count_ = 0;
};

}  // namespace hal::cpu

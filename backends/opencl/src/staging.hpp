// Copies between contexts go by way of the host: the memory for that, and queues of the destination that no other copy
// waits behind. A queue and its memory are used again once its copy has ended.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "api.hpp"

namespace hal::opencl {

class Device;

struct Lane {
    std::unique_ptr<uint8_t[]> bytes;
    std::unique_ptr<Queue> queue;  // ends, and waits, before the bytes go
    Event written;                 // of the copy that uses it
    bool taken = false;            // by a caller who has not set `written` yet
};

class Staging {
  public:
    explicit Staging(Device& device) : device_(device) {}
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    // A lane with so many bytes. Throws std::bad_alloc and what the driver refuses.
    [[nodiscard]] Lane& take(uint64_t bytes);
    // Free again once `written` has ended.
    void give_back(Lane& lane, Event written);

  private:
    [[nodiscard]] Lane& idle_lane();

    Device& device_;
    std::mutex mutex_;
    std::deque<Lane> lanes_;
};

}  // namespace hal::opencl

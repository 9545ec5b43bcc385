// The clock of a back end, and how long a call may wait.
#pragma once

#include <cstdint>

namespace hal::shared {

// CLOCK_MONOTONIC in nanoseconds; the clock of device_time and of timing events too.
[[nodiscard]] uint64_t now_ns() noexcept;

// A point of that clock; HAL_NO_TIMEOUT and whatever overflows mean never.
class Deadline {
  public:
    static Deadline never() noexcept { return Deadline(UINT64_MAX); }
    static Deadline after(uint64_t timeout_ns) noexcept;

    [[nodiscard]] bool is_never() const noexcept { return at_ns_ == UINT64_MAX; }
    [[nodiscard]] uint64_t at_ns() const noexcept { return at_ns_; }
    [[nodiscard]] bool passed() const noexcept { return !is_never() && now_ns() >= at_ns_; }

  private:
    explicit Deadline(uint64_t at_ns) noexcept : at_ns_(at_ns) {}
    uint64_t at_ns_;
};

}  // namespace hal::shared

#include "deadline.hpp"

#include <time.h>

namespace hal::shared {

uint64_t now_ns() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

Deadline Deadline::after(uint64_t timeout_ns) noexcept {
    if (timeout_ns == UINT64_MAX) {
        return never();  // without a look at the clock, which would be a tenth of a hot round trip
    }
    const uint64_t now = now_ns();
    return Deadline(timeout_ns >= UINT64_MAX - now ? UINT64_MAX : now + timeout_ns);
}

}  // namespace hal::shared

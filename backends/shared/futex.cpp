#include "futex.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace hal::shared {
namespace {

timespec to_timespec(uint64_t ns) noexcept {
    timespec time{};
    time.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
    time.tv_nsec = static_cast<long>(ns % 1'000'000'000);
    return time;
}

}  // namespace

bool futex_wait(std::atomic<uint32_t>& word, uint32_t expected, Deadline deadline, bool shared) noexcept {
    const timespec time = to_timespec(deadline.at_ns());
    const int operation = FUTEX_WAIT_BITSET | (shared ? 0 : FUTEX_PRIVATE_FLAG);
    const long result = syscall(SYS_futex, &word, operation, expected, deadline.is_never() ? nullptr : &time, nullptr,
                                FUTEX_BITSET_MATCH_ANY);
    return result == 0 || errno != ETIMEDOUT;
}

void futex_wake(std::atomic<uint32_t>& word, int count, bool shared) noexcept {
    syscall(SYS_futex, &word, FUTEX_WAKE | (shared ? 0 : FUTEX_PRIVATE_FLAG), count, nullptr, nullptr, 0);
}

void yield() noexcept {
    sched_yield();
}

}  // namespace hal::shared

#include "waiting.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "cpu_info.hpp"

namespace hal::cpu {
namespace {

bool register_membarrier() noexcept {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

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

Waiting::Waiting(bool membarrier) noexcept
    : membarrier_(membarrier && register_membarrier()), cores_(static_cast<int>(usable_cores())) {}

void Waiting::heavy_fence() const noexcept {
    if (membarrier_) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

}  // namespace hal::cpu

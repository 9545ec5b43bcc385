#include "waiting.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cores.hpp"

namespace hal::cpu {
namespace {

bool register_membarrier() noexcept {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

Waiting::Waiting(bool membarrier) noexcept
    : membarrier_(membarrier && register_membarrier()), cores_(static_cast<int>(shared::usable_cores())) {}

void Waiting::heavy_fence() const noexcept {
    if (membarrier_) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
}

}  // namespace hal::cpu

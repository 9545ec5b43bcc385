#include "timeline.hpp"

#include <climits>

namespace hal::cpu {

void Timeline::fail(uint64_t position, hal_status status, std::string text) noexcept {
    status_ = status;
    text_ = std::move(text);
    failed_at_.store(position, std::memory_order_release);
}

void Timeline::wake() noexcept {
    // In this order: a sleeper who enters himself before the exchange has read the count before it, and will not sleep.
    wake_at_.exchange(nobody, std::memory_order_seq_cst);
    wake_count_.fetch_add(1, std::memory_order_seq_cst);
    futex_wake(wake_count_, INT_MAX);
}

bool Timeline::wait_until(uint64_t position, Deadline deadline, Waiting& waiting) noexcept {
    if (reached(position) || deadline.passed()) {
        return reached(position);
    }
    if (waiting.spin(waiting.waiter_spinners(), [&] { return reached(position); })) {
        return true;
    }
    for (;;) {
        const uint32_t count = wake_count_.load(std::memory_order_seq_cst);
        uint64_t lowest = wake_at_.load(std::memory_order_seq_cst);
        while (position < lowest && !wake_at_.compare_exchange_weak(lowest, position, std::memory_order_seq_cst)) {
        }
        waiting.heavy_fence();
        if (reached(position)) {
            return true;
        }
        if (!futex_wait(wake_count_, count, deadline)) {
            return reached(position);
        }
    }
}

}  // namespace hal::cpu

// Waiting for something that another thread of this process does. The bell belongs to the process, so that whoever
// rings it touches nothing of what the waiter may destroy when it has woken.
#pragma once

#include <atomic>
#include <cstdint>

#include "futex.hpp"

namespace hal::xccl {

namespace detail {
inline std::atomic<uint32_t> local_sleepers{0};
inline std::atomic<uint32_t> local_bell{0};
}  // namespace detail

// After the change, which was sequentially consistent.
inline void wake_local() noexcept {
    if (detail::local_sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        detail::local_bell.fetch_add(1, std::memory_order_seq_cst);
        shared::futex_wake(detail::local_bell, INT32_MAX);
    }
}

// Until ready(); it is asked again at least every 20 ms, so that it may also look for what rings no bell. It may throw.
template <class Ready>
void wait_local(Ready&& ready) {
    constexpr uint64_t spin_ns = 50'000;
    constexpr uint64_t nap_ns = 20'000'000;
    for (const uint64_t end = shared::now_ns() + spin_ns; shared::now_ns() < end; shared::yield()) {
        if (ready()) {
            return;
        }
    }
    struct Sleeper {
        Sleeper() noexcept { detail::local_sleepers.fetch_add(1, std::memory_order_seq_cst); }
        ~Sleeper() { detail::local_sleepers.fetch_sub(1, std::memory_order_relaxed); }
    } const sleeper;
    for (;;) {
        const uint32_t bell = detail::local_bell.load(std::memory_order_seq_cst);
        if (ready()) {
            return;
        }
        shared::futex_wait(detail::local_bell, bell, shared::Deadline::after(nap_ns));
    }
}

}  // namespace hal::xccl

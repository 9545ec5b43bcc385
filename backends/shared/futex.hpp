// Sleeping until a word changes, and what a thread does while it spins.
#pragma once

#include <atomic>
#include <cstdint>

#include "deadline.hpp"

namespace hal::shared {

// Sleeps while word == expected; false if the deadline passed. May return early for no reason. `shared` words lie in
// memory that other processes map.
bool futex_wait(std::atomic<uint32_t>& word, uint32_t expected, Deadline deadline, bool shared = false) noexcept;
void futex_wake(std::atomic<uint32_t>& word, int count, bool shared = false) noexcept;

void yield() noexcept;
inline void cpu_pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
}

}  // namespace hal::shared

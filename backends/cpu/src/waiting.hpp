// How the threads of one instance wait for each other: deadlines, futexes, a fence whose cost lies on the sleeper, and
// spinning that stops when the cores are wanted.
#pragma once

#include <atomic>
#include <cstdint>

#include "futex.hpp"

namespace hal::cpu {

using shared::cpu_pause;
using shared::Deadline;
using shared::futex_wait;
using shared::futex_wake;
using shared::now_ns;
using shared::yield;

// Shared by all threads of an instance. Padded on purpose: the flag is read by every push, the counter is contended.
class Waiting {  // NOLINT(clang-analyzer-optin.performance.Padding)
  public:
    // `membarrier` false does without it, as on a kernel that lacks or forbids it.
    explicit Waiting(bool membarrier = true) noexcept;

    // The two sides of an asymmetric fence. Who makes work visible and then asks whether somebody sleeps calls
    // light_fence() in between; who says that he will sleep and then looks for work a last time calls heavy_fence() in
    // between. At least one of them sees the other. The light side costs nothing where the kernel has membarrier (a
    // full fence costs 8-20 ns a task), the heavy side an interrupt to the other cores, paid only before a sleep of
    // many microseconds.
    void light_fence() const noexcept {
        if (membarrier_) [[likely]] {
            std::atomic_signal_fence(std::memory_order_seq_cst);
        } else {
            std::atomic_thread_fence(std::memory_order_seq_cst);
        }
    }
    void heavy_fence() const noexcept;

    // How many threads may spin at once: an idle worker leaves one core to whoever has work for it, a waiter may take
    // the last.
    [[nodiscard]] int worker_spinners() const noexcept { return cores_ - 1; }
    [[nodiscard]] int waiter_spinners() const noexcept { return cores_; }

    // Polls `ready` for a while; true once it holds. `max_spinners` is one of the two above.
    template <class Ready>
    bool spin(int max_spinners, Ready&& ready) noexcept {
        for (int i = 0; i < brief_polls; ++i) {
            if (ready()) {
                return true;
            }
            cpu_pause();
        }
        if (spinners_.fetch_add(1, std::memory_order_relaxed) >= max_spinners) {
            spinners_.fetch_sub(1, std::memory_order_relaxed);
            return false;
        }
        const bool seen = spin_until(now_ns() + spin_ns, ready);
        spinners_.fetch_sub(1, std::memory_order_relaxed);
        return seen;
    }

  private:
    // Before a thread asks for a spinner's place: the shared counter would cost a cache miss in each hot round trip.
    static constexpr int brief_polls = 64;
    // Waking a parked thread costs 40-60 us here, so spinning for as long at most doubles the cost of the worst case.
    static constexpr uint64_t spin_ns = 50'000;
    // Between yields. They keep a spinner from holding the core that the thread which it waits for needs: when other
    // processes load the machine the two often share one, and a round trip without yields took 150-350 us.
    static constexpr int polls_per_yield = 32;

    template <class Ready>
    static bool spin_until(uint64_t end_ns, Ready& ready) noexcept {
        do {
            for (int i = 0; i < polls_per_yield; ++i) {
                if (ready()) {
                    return true;
                }
                cpu_pause();
            }
            yield();
        } while (now_ns() < end_ns);
        return false;
    }

    bool membarrier_;
    int cores_;
    alignas(64) std::atomic<int> spinners_{0};
};

}  // namespace hal::cpu

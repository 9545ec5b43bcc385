// The ceilings of streams: one thread hands work to another with the least that C++ and Linux offer.
#pragma once

#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <thread>

namespace hal::bench {

// One word each way. `worker_parks`: the worker sleeps in a futex at once instead of spinning; `caller_parks` likewise
// for the one who waits for the answer.
class HandOff {  // NOLINT(clang-analyzer-optin.performance.Padding): a cache line for each word
  public:
    HandOff(bool worker_parks, bool caller_parks);
    ~HandOff();
    HandOff(const HandOff&) = delete;
    HandOff& operator=(const HandOff&) = delete;

    // Hands over one task and waits until it is done. One thread only.
    void round_trip();

  private:
    void work();

    const bool worker_parks_;
    const bool caller_parks_;
    alignas(64) std::atomic<uint32_t> posted_{0};
    alignas(64) std::atomic<uint32_t> done_{0};
    alignas(64) std::atomic<bool> stop_{false};
    std::thread worker_;
};

// boost::lockfree's ring with a thread that runs what comes out, spinning.
class Ring {  // NOLINT(clang-analyzer-optin.performance.Padding): a cache line for each word
  public:
    using Function = void (*)(void*);

    Ring();
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    // Waits while the ring is full. One thread only.
    void push(Function function, void* argument);
    void wait_empty() const;

  private:
    struct Task {
        Function function;
        void* argument;
    };
    void work();

    boost::lockfree::spsc_queue<Task, boost::lockfree::capacity<4096>> queue_;
    uint64_t pushed_ = 0;
    alignas(64) std::atomic<uint64_t> run_{0};
    alignas(64) std::atomic<bool> stop_{false};
    std::thread worker_;
};

}  // namespace hal::bench

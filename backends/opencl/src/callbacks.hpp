// The thread that runs host functions of one stream: what the driver's own threads must not be held up by.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace hal::opencl {

class Instance;

class Callbacks {
  public:
    // The thread starts here. Throws sdk::Error OUT_OF_RESOURCES.
    explicit Callbacks(const Instance& instance);
    // Runs what is queued or promised, then ends the thread.
    ~Callbacks();
    Callbacks(const Callbacks&) = delete;
    Callbacks& operator=(const Callbacks&) = delete;

    // A call that push() brings later, from a thread of the driver; the end waits for it.
    void promise();
    void push(std::function<void()> call);
    // The promise is void.
    void withdraw() noexcept;

  private:
    void work(const Instance& instance);

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> calls_;
    uint64_t promised_ = 0;
    bool closing_ = false;
    std::thread thread_;
};

}  // namespace hal::opencl

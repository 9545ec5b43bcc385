// Streams: one worker thread each, started with the first work; the queue in front of it is unbounded, so that
// enqueuing never waits for work to finish.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include "hal/sdk.hpp"
#include "handles.hpp"
#include "queue.hpp"
#include "timeline.hpp"
#include "waiting.hpp"

namespace hal::cpu {

class Instance;

// Enqueues `work`, a callable `hal_status()`, on a stream of a device (NULL: the default stream). It runs on the
// stream's worker after all earlier work; an error it returns, or an exception (sdk::Error: with its status and text,
// any other: KERNEL_FAULT), makes the stream sticky-failed. Callables of up to 48 bytes that move without throwing are
// kept in the queue itself, others on the heap. Work that is skipped, because the stream failed, is destroyed without
// being called. Throws sdk::Error (INVALID_DEVICE, INVALID_HANDLE, OUT_OF_RESOURCES, the stream's sticky error);
// nothing is enqueued then.
template <class Work>
void enqueue(Instance& instance, hal_dev device, hal_stream stream, Work&& work);

// What runs even on a failed stream: a callable `hal_status(hal_status stream_status)`, such as a callback.
template <class Operation>
concept RunsAlways = std::is_invocable_r_v < hal_status,
        std::decay_t<Operation>
&, hal_status > ;

// Padded on purpose: a cache line for each side.
class Stream {  // NOLINT(clang-analyzer-optin.performance.Padding)
  public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() = default;  // closed

    // ---- Life; open and close alternate, closed at first ----

    void open(Instance& instance, hal_dev device, hal_stream handle, int32_t priority);
    // Work that has not begun will be skipped with CANCELLED.
    void cancel() noexcept { cancel_.store(true, std::memory_order_relaxed); }
    // Drains the queue and ends the worker. Does nothing to a closed stream.
    void close() noexcept;
    // Drains, then forgets the sticky error; events recorded before keep theirs.
    void reset(hal_stream handle);

    // ---- Any thread; a closed or recycled stream throws INVALID_HANDLE ----

    // A failed stream throws its sticky error; it takes what always runs unless that is for healthy ones too.
    template <class Operation>
    void push(hal_stream handle, Operation&& operation, bool healthy = !RunsAlways<Operation>);

    // Later work waits for the point. Nothing is enqueued if it is reached already or lies on this stream.
    void wait_for(hal_stream handle, Point point);

    // Behind everything enqueued so far.
    [[nodiscard]] Point tail(hal_stream handle);
    // The same into a point that may be on this timeline already, which then costs no count of references.
    void tail(hal_stream handle, Point& out);
    // The same, and an operation that runs there. The returned point is behind it.
    template <class Operation>
    Point push_point(hal_stream handle, Operation&& operation);

    [[nodiscard]] hal_stream_info info(hal_stream handle);
    // The worker's thread id in the kernel; starts the worker.
    [[nodiscard]] uint64_t thread_id(hal_stream handle);

    // Tail of an open stream of the device, else a point without timeline. Throws nothing.
    [[nodiscard]] Point tail_if_of(hal_dev device) noexcept;

    [[nodiscard]] hal_dev device() const noexcept { return device_; }

  private:
    template <class Operation>
    uint64_t push_locked(hal_stream handle, Operation&& operation, bool healthy = !RunsAlways<Operation>);
    void require_open(hal_stream handle) const;
    void require_worker();
    [[noreturn]] void throw_sticky() const;
    void wake_worker() noexcept {
        waiting_->light_fence();
        if (parked_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            unpark();
        }
    }
    void unpark() noexcept;

    // ---- The worker ----
    void work() noexcept;
    void run(Task& task) noexcept;
    void fail(hal_status status, std::string_view what) noexcept;
    void idle() noexcept;
    [[nodiscard]] bool let_producer_lead() noexcept;

    // Producers, under the mutex.
    alignas(64) std::mutex mutex_;
    bool open_ = false;
    bool worker_runs_ = false;
    hal_dev device_ = 0;
    hal_stream handle_ = nullptr;
    TimelineRef timeline_;
    Waiting* waiting_ = nullptr;
    Instance* instance_ = nullptr;
    int32_t priority_ = 0;
    uint64_t first_position_ = 0;  // of this life of the slot; operations of our own are not counted
    std::thread worker_;
    std::atomic<uint64_t> thread_id_{0};

    TaskQueue queue_;

    // Futex of the sleeping worker: 1 while it sleeps or is about to. Read by every push.
    alignas(64) std::atomic<uint32_t> parked_{0};
    std::atomic<bool> cancel_{false};
    std::atomic<bool> closing_{false};

    // Only the worker, once it runs.
    alignas(64) TimelineRef progress_;
    hal_status status_ = HAL_OK;
    uint64_t idle_at_ = 0;     // operations run when it last had nothing to do
    bool in_a_burst_ = false;  // it had nothing to do only for a moment
};

class Streams : public shared::HandleTable<Stream, hal_stream, 0xC5> {};

// The stream behind a handle (NULL: the device's default stream). Throws INVALID_DEVICE, INVALID_HANDLE; a stream of
// another device is INVALID_HANDLE too.
[[nodiscard]] Stream& find_stream(Instance& instance, hal_dev device, hal_stream stream);

// Priority p is p steps of niceness below the process: a lower weight needs no privilege, a higher one would.
struct PriorityRange {
    int32_t least;
    int32_t greatest;
};
[[nodiscard]] PriorityRange priority_range() noexcept;

template <class Operation>
uint64_t Stream::push_locked(hal_stream handle, Operation&& operation, bool healthy) {
    require_open(handle);
    if (healthy && timeline_->failed()) [[unlikely]] {
        throw_sticky();
    }
    if (!worker_runs_) [[unlikely]] {
        require_worker();
    }
    return queue_.push(std::forward<Operation>(operation));
}

template <class Operation>
void Stream::push(hal_stream handle, Operation&& operation, bool healthy) {
    {
        const std::lock_guard lock(mutex_);
        push_locked(handle, std::forward<Operation>(operation), healthy);
    }
    wake_worker();
}

template <class Operation>
Point Stream::push_point(hal_stream handle, Operation&& operation) {
    Point point;
    {
        const std::lock_guard lock(mutex_);
        point.position = push_locked(handle, std::forward<Operation>(operation));
        point.timeline = timeline_;
    }
    wake_worker();
    return point;
}

template <class Work>
void enqueue(Instance& instance, hal_dev device, hal_stream stream, Work&& work) {
    find_stream(instance, device, stream).push(stream, std::forward<Work>(work));
}

}  // namespace hal::cpu

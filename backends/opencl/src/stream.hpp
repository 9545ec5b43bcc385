// Streams: in-order command queues. What a stream has reached is the last event of its queue, so a record costs
// nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "api.hpp"
#include "callbacks.hpp"
#include "deadline.hpp"
#include "hal/sdk.hpp"
#include "handles.hpp"

namespace hal::opencl {

class Device;
class Instance;

// The first failure of a stream since it was opened or reset; records keep it alive.
struct Outcome {
    std::atomic<uint64_t> failed_at{UINT64_MAX};  // position of the operation; the fields below are written before it
    hal_status status = HAL_OK;
    int64_t driver_code = 0;
    std::string text;

    [[nodiscard]] bool failed_by(uint64_t position) const noexcept {
        return failed_at.load(std::memory_order_acquire) <= position;
    }
    [[noreturn]] void raise() const { throw sdk::Error(status, text, driver_code); }
};

class Stream;

// A point of a stream: everything up to `position`.
struct Point {
    Stream* stream = nullptr;
    hal_stream handle = nullptr;
    std::shared_ptr<const Outcome> outcome;
    Event event;
    uint64_t position = 0;
};

class Stream {
  public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // ---- Life; open and close alternate, closed at first ----
    void open(Device& device, hal_stream handle, int32_t priority = 0);
    // Waits for all work, callbacks included. Does nothing on a closed stream.
    void close() noexcept;

    // ---- Any thread; a closed or recycled stream throws INVALID_HANDLE ----

    // Enqueues what f(queue, event) does; f returns the driver's error and sets the event of its last command. Throws
    // the sticky error of a failed stream, and what the driver refuses; then nothing is enqueued.
    template <class F>
    void enqueue(hal_stream handle, const char* call, F&& f) {
        const std::lock_guard lock(mutex_);
        require_healthy(handle);
        enqueue_locked(call, f);
        ++submitted_;
        flush();
    }
    // Throws as enqueue does: for calls without work.
    void require(hal_stream handle);

    // The point that all work enqueued so far leads to.
    [[nodiscard]] Point tail(hal_stream handle);
    [[nodiscard]] std::optional<Point> tail_if_of(const Device& device);
    // A point of its own, for timing: f(status) is called when it is reached.
    template <class F>
    [[nodiscard]] Point marked(hal_stream handle, F&& f) {
        const std::lock_guard lock(mutex_);
        require_open(handle);
        mark_locked();
        ++submitted_;
        when_ended(api(), last_, std::forward<F>(f));
        flush();
        return tail_locked();
    }

    // Later work waits for the event, of whatever context.
    void wait_for(hal_stream handle, const Event& event);
    // Calls the function in stream order, with the stream's status; later work waits for it. An sdk::Error that it
    // throws makes the stream fail.
    void add_callback(hal_stream handle, std::function<void(hal_status)> function);

    [[nodiscard]] hal_stream_info info(hal_stream handle);
    void reset(hal_stream handle);
    [[nodiscard]] uint64_t native_handle(hal_stream handle);

    // Looks at what has ended and keeps the first failure.
    void collect(hal_stream handle);

    [[nodiscard]] Device& device() const noexcept { return *device_; }

  private:
    [[nodiscard]] const Api& api() const noexcept;
    void require_open(hal_stream handle) const;
    void require_healthy(hal_stream handle);
    void require_callbacks();
    void push_when_ended(const Event& event, std::function<void()> function);
    void collect_locked(size_t most);
    void fail(uint64_t position, cl_int error) noexcept;
    void fail(uint64_t position, const sdk::Error& error) noexcept;
    template <class What>
    void fail(uint64_t position, hal_status status, int64_t driver_code, What&& what) noexcept;
    void fail_callback(hal_stream handle, const std::shared_ptr<Outcome>& outcome, uint64_t position,
                       const sdk::Error& error) noexcept;
    [[nodiscard]] Point tail_locked();
    void mark_locked();
    void flush() const noexcept;
    void took(Event&& event);
    [[nodiscard]] bool collect_one(const Event& event, uint64_t position) noexcept;
    [[nodiscard]] uint64_t completed() const noexcept;

    template <class F>
    void enqueue_locked(const char* call, F&& f) {
        cl_event event = nullptr;
        const cl_int error = f(queue_->get(), &event);
        if (event != nullptr) {
            took(Event(api(), event));
        }
        check(error, call);
    }

    std::mutex mutex_;
    Device* device_ = nullptr;
    hal_stream handle_ = nullptr;
    int32_t priority_ = 0;
    bool open_ = false;
    std::unique_ptr<Queue> queue_;
    Event last_;                  // not in pending_: the newest command has one reference
    uint64_t last_position_ = 0;  // 0: it was seen to end
    struct Pending {
        Event event;
        uint64_t position;
    };
    std::deque<Pending> pending_;  // older commands that have not been seen to end, oldest first
    uint32_t until_look_ = 0;      // enqueues until the next look at what has ended
    uint64_t submitted_ = 0;       // operations of the user; one may be several commands
    uint64_t first_ = 0;           // submitted_ when the stream was opened
    std::shared_ptr<Outcome> outcome_;
    std::unique_ptr<Callbacks> callbacks_;
};

// The stream, or the device's default stream for NULL; throws INVALID_HANDLE, INVALID_DEVICE.
[[nodiscard]] Stream& find_stream(Instance& instance, hal_dev device, hal_stream stream);

// Waits until the point is reached; throws TIMEOUT naming the call.
void wait(const Api& api, const Point& point, shared::Deadline deadline, const char* call);
// HAL_OK, or throws what the work up to the point failed with. The point is reached.
void report(const Point& point);

class Streams : public shared::HandleTable<Stream, hal_stream, 0x5C> {};

}  // namespace hal::opencl

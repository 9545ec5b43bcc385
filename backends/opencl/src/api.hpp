// libOpenCL, opened when the back end initialises and never before: its functions, its errors, its events.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

// 3.0 declares the functions; what a platform offers is asked of it. clCreateCommandQueue is the call that all have.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "hal/sdk.hpp"

namespace hal::opencl {

// How many functions of ours the driver still has to call.
class Calls {
  public:
    void begin() {
        const std::lock_guard lock(mutex_);
        ++count_;
    }
    // The notice is given under the lock: behind it this object may go.
    void end() noexcept {
        const std::lock_guard lock(mutex_);
        --count_;
        changed_.notify_all();
    }
    void wait_for_none() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return count_ == 0; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    uint64_t count_ = 0;
};

struct Api {
    // Throws sdk::Error NO_DEVICE naming the library and the reason. The library stays: drivers keep threads.
    Api();
    mutable Calls calls;
#define HAL_CL(name) decltype(&::name) name = nullptr;
#include "api.def"
};

// "CL_OUT_OF_RESOURCES", or "OpenCL error -9999".
[[nodiscard]] std::string cl_text(cl_int error);
[[nodiscard]] hal_status cl_status(cl_int error) noexcept;

// Throws sdk::Error with the status, the call and the driver's number unless the call succeeded.
void check(cl_int error, const char* call);

// A reference to a cl_event; empty is "complete".
class Event {
  public:
    Event() = default;
    // Takes the caller's reference.
    Event(const Api& api, cl_event event) noexcept : api_(&api), event_(event) {}
    Event(const Event& other) noexcept : api_(other.api_), event_(other.event_) {
        if (event_ != nullptr) {
            api_->clRetainEvent(event_);
        }
    }
    Event(Event&& other) noexcept : api_(other.api_), event_(other.event_) { other.event_ = nullptr; }
    Event& operator=(Event other) noexcept {
        std::swap(api_, other.api_);
        std::swap(event_, other.event_);
        return *this;
    }
    ~Event() {
        if (event_ != nullptr) {
            api_->clReleaseEvent(event_);
        }
    }

    [[nodiscard]] explicit operator bool() const noexcept { return event_ != nullptr; }
    [[nodiscard]] cl_event get() const noexcept { return event_; }
    // CL_COMPLETE, above it while the work is under way, below it the error that it ended with.
    [[nodiscard]] cl_int status() const noexcept;
    [[nodiscard]] cl_context context() const;
    // When its command ended by the device's clock; nullopt where the driver cannot tell.
    [[nodiscard]] std::optional<uint64_t> end_ns() const noexcept;
    [[nodiscard]] bool ended() const noexcept { return event_ == nullptr || status() <= CL_COMPLETE; }

  private:
    const Api* api_ = nullptr;
    cl_event event_ = nullptr;
};

// Calls f(status) once, when the event has ended, on a thread of the driver: f must be short and must not wait. An
// empty event has ended already. If the driver refuses, f is not called and the error is thrown.
template <class F>
void when_ended(const Api& api, const Event& event, F f) {
    if (!event) {
        f(CL_COMPLETE);
        return;
    }
    struct Kept {
        Calls& calls;
        std::optional<F> f;
    };
    auto kept = std::make_unique<Kept>(Kept{api.calls, std::move(f)});
    api.calls.begin();
    const cl_int error = api.clSetEventCallback(
        event.get(), CL_COMPLETE,
        [](cl_event, cl_int status, void* user_data) {
            const std::unique_ptr<Kept> call(static_cast<Kept*>(user_data));
            (*call->f)(status);
            call->f.reset();  // what it holds goes before the count
            call->calls.end();
        },
        kept.get());
    if (error != CL_SUCCESS) {
        api.calls.end();
        check(error, "clSetEventCallback");
    }
    static_cast<void>(kept.release());
}

// Lower runs first, as in hal_stream_desc; of devices with cl_khr_priority_hints.
constexpr int32_t greatest_priority = -1;
constexpr int32_t least_priority = 1;

// An in-order command queue. Its end waits for what it still has to do.
class Queue {
  public:
    // `profiled`: events of the queue know when their command ended by the device's clock. Throws what the driver
    // refuses.
    Queue(const Api& api, cl_context context, cl_device_id device, bool profiled, int32_t priority = 0);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    [[nodiscard]] cl_command_queue get() const noexcept { return queue_; }

  private:
    const Api& api_;
    cl_command_queue queue_;
};

// An event of a context that somebody else's work completes.
class UserEvent {
  public:
    UserEvent(const Api& api, cl_context context);
    [[nodiscard]] const Event& event() const noexcept { return event_; }
    void complete(cl_int status = CL_COMPLETE) const noexcept;

  private:
    const Api* api_;
    Event event_;
};

// An event of `context` that ends when `event`, of whatever context, has ended. The event itself if it is of that
// context.
[[nodiscard]] Event bridged(const Api& api, const Event& event, cl_context context);

}  // namespace hal::opencl

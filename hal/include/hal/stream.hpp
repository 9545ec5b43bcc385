// Stream and Event: owners of a back end's streams and events.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "hal/backend.hpp"

namespace hal {

class Stream;

// Owns an event. Move-only. The destructor never throws and does not wait: an event may be destroyed while it is waited
// on, and the waits complete. Must be gone before its Loader is closed.
class Event {
  public:
    // flags: HAL_EVENT_TIMING, HAL_EVENT_IPC.
    static Result<Event> create(const Device& device, uint32_t flags = 0) noexcept {
        auto desc = sized<hal_event_desc>();
        desc.flags = flags;
        hal_event handle = nullptr;
        const hal_status status = device.backend().create_event(device.ordinal(), &desc, &handle);
        return status == HAL_OK ? Result<Event>(Event(device, handle)) : Result<Event>(status);
    }

    Event(Event&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
    Event& operator=(Event&& other) noexcept {
        if (this != &other) {
            (void)close();
            device_ = other.device_;
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Event() { (void)close(); }

    // What the destructor does, with its status. Idempotent.
    Status close() noexcept {
        const hal_event handle = std::exchange(handle_, nullptr);
        return handle == nullptr ? HAL_OK : device_.backend().destroy_event(device_.ordinal(), handle);
    }

    // Marks the work that is on the stream now. May be repeated any time; earlier waits stay as they were.
    Status record(const Stream& stream) noexcept;

    // OK, NOT_READY, or the error of the recorded work. Never blocks; OK if never recorded.
    [[nodiscard]] hal_status query() const noexcept {
        return device_.backend().query_event(device_.ordinal(), handle_);
    }

    // Waits for the most recent record. TIMEOUT leaves the work alone.
    Status synchronize(uint64_t timeout_ns = HAL_NO_TIMEOUT) const noexcept {
        return device_.backend().synchronize_event(device_.ordinal(), handle_, timeout_ns);
    }

    // Nanoseconds of the device's clock from `start` to this event, both made with HAL_EVENT_TIMING and recorded;
    // NOT_READY until both are complete.
    [[nodiscard]] Result<int64_t> elapsed_ns_since(const Event& start) const noexcept {
        return detail::read_value<int64_t>(
            [&](int64_t* out) { return device_.backend().event_elapsed(start.handle_, handle_, out); });
    }

    [[nodiscard]] const Device& device() const noexcept { return device_; }
    [[nodiscard]] hal_event get() const noexcept { return handle_; }

  private:
    Event(const Device& device, hal_event handle) noexcept : device_(device), handle_(handle) {}

    Device device_;
    hal_event handle_ = nullptr;
};

// Owns a stream, or stands for a device's default stream. Move-only. Pending work: the destructor drains the stream,
// that is, it blocks until the stream's work is complete, and never throws; an error of that work is lost there, so
// synchronise first. Enqueues from several threads are safe; destroying and moving are not. Must be gone before its
// Loader is closed.
class Stream {
  public:
    static Result<Stream> create(const Device& device, int32_t priority = 0) noexcept {
        auto desc = sized<hal_stream_desc>();
        desc.priority = priority;
        hal_stream handle = nullptr;
        const hal_status status = device.backend().create_stream(device.ordinal(), &desc, &handle);
        return status == HAL_OK ? Result<Stream>(Stream(device, handle)) : Result<Stream>(status);
    }

    // The default stream of the device; destroying this object does nothing.
    static Stream default_of(const Device& device) noexcept { return Stream(device, nullptr); }

    Stream(Stream&& other) noexcept : device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
    Stream& operator=(Stream&& other) noexcept {
        if (this != &other) {
            (void)close();
            device_ = other.device_;
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~Stream() { (void)close(); }

    // What the destructor does, with its status; the object then stands for the default stream. Idempotent.
    Status close() noexcept {
        const hal_stream handle = std::exchange(handle_, nullptr);
        return handle == nullptr ? HAL_OK : device_.backend().destroy_stream(device_.ordinal(), handle);
    }

    // OK, NOT_READY, or the error that the stream is stuck with. Never blocks.
    [[nodiscard]] hal_status query() const noexcept {
        return device_.backend().query_stream(device_.ordinal(), handle_, nullptr);
    }

    // Waits for the work enqueued before the call. TIMEOUT leaves it alone.
    Status synchronize(uint64_t timeout_ns = HAL_NO_TIMEOUT) const noexcept {
        return device_.backend().synchronize_stream(device_.ordinal(), handle_, timeout_ns);
    }

    // Later work waits for the event's most recent record. The event may belong to another device of the back end.
    Status wait(const Event& event) const noexcept {
        return device_.backend().stream_wait_event(device_.ordinal(), handle_, event.get());
    }

    // Calls f(hal_status) once in stream order on a thread of the back end; the status is the stream's. f is moved to
    // the heap and destroyed after the call. It must not throw, nor call a blocking entry of the same back end.
    template <class F>
    Status add_callback(F&& f) const {
        using Function = std::decay_t<F>;
        static_assert(std::is_invocable_v<Function&, hal_status>, "the callback takes the stream's hal_status");
        auto* function = new (std::nothrow) Function(std::forward<F>(f));
        if (function == nullptr) {
            return Status(HAL_ERROR_OUT_OF_HOST_MEMORY, "no memory for a stream callback");
        }
        const auto call = [](void* user_data, hal_dev, hal_stream, hal_status status) noexcept {
            auto* owned = static_cast<Function*>(user_data);
            (*owned)(status);
            delete owned;
        };
        const hal_status status = device_.backend().stream_add_callback(device_.ordinal(), handle_, call, function);
        if (status < HAL_OK) {
            Status error(status);
            delete function;
            return error;
        }
        return status;
    }

    [[nodiscard]] const Device& device() const noexcept { return device_; }

    // NULL for the default stream. Still owned by this object.
    [[nodiscard]] hal_stream get() const noexcept { return handle_; }

  private:
    Stream(const Device& device, hal_stream handle) noexcept : device_(device), handle_(handle) {}

    Device device_;
    hal_stream handle_ = nullptr;
};

inline Status Event::record(const Stream& stream) noexcept {
    return device_.backend().record_event(stream.device().ordinal(), stream.get(), handle_);
}

}  // namespace hal

// What a stream does with its command queue.
#include <condition_variable>

#include "device.hpp"
#include "instance.hpp"
#include "status_text.hpp"
#include "stream.hpp"

namespace hal::opencl {
namespace {

// Enqueuing looks now and then, at more than it has added since, so that a stream that never waits forgets too. A look
// is a call of the driver.
constexpr uint32_t enqueues_per_look = 16;
constexpr size_t looked_at = 32;

}  // namespace

const Api& Stream::api() const noexcept {
    return device_->api();
}

void Stream::open(Device& device, hal_stream handle, int32_t priority) {
    const std::lock_guard lock(mutex_);
    device_ = &device;
    queue_ = device.make_queue(priority);
    priority_ = priority;
    outcome_ = std::make_shared<Outcome>();
    last_ = {};
    first_ = submitted_;
    handle_ = handle;
    open_ = true;
}

void Stream::close() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!open_) {
            return;
        }
        open_ = false;  // nothing is enqueued any more
    }
    if (cl_event last = last_.get(); last != nullptr) {  // Rusticl's clFinish does not wait for what was flushed before
        static_cast<void>(api().clWaitForEvents(1, &last));
    }
    static_cast<void>(api().clFinish(queue_->get()));
    std::unique_ptr<Callbacks> callbacks;
    {
        const std::lock_guard lock(mutex_);
        collect_locked(SIZE_MAX);
        callbacks = std::move(callbacks_);
        pending_.clear();
        last_ = {};
        last_position_ = 0;
        handle_ = nullptr;
    }
    callbacks.reset();  // its functions may look at the stream
    queue_.reset();
}

void Stream::require_open(hal_stream handle) const {
    if (!open_ || handle_ != handle) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream is being destroyed, or has been");
    }
}

void Stream::require_healthy(hal_stream handle) {
    require_open(handle);
    if (until_look_ == 0) {
        until_look_ = enqueues_per_look;
        collect_locked(looked_at);
    }
    --until_look_;
    if (outcome_->failed_by(submitted_)) [[unlikely]] {
        outcome_->raise();
    }
}

void Stream::require(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    require_healthy(handle);
}

void Stream::took(Event&& event) {
    if (last_position_ != 0) {
        pending_.push_back({std::move(last_), last_position_});
    }
    last_ = std::move(event);
    last_position_ = submitted_ + 1;  // counted once all its commands are there
}

void Stream::flush() const noexcept {
    static_cast<void>(api().clFlush(queue_->get()));
}

void Stream::collect(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    if (device_ != nullptr && handle_ == handle) {  // also while it closes
        collect_locked(SIZE_MAX);
    }
}

void Stream::collect_locked(size_t most) {
    for (; most > 0 && !pending_.empty(); --most) {
        if (!collect_one(pending_.front().event, pending_.front().position)) {
            return;
        }
        pending_.pop_front();
    }
    if (pending_.empty() && last_position_ != 0 && collect_one(last_, last_position_)) {
        last_position_ = 0;
    }
}

// False while the command is under way.
bool Stream::collect_one(const Event& event, uint64_t position) noexcept {
    const cl_int status = event.status();
    if (status < 0) {
        fail(position, status);
    }
    return status <= CL_COMPLETE;
}

void Stream::fail(uint64_t position, cl_int error) noexcept {
    const hal_status status = cl_status(error);
    fail(position, status == HAL_ERROR_DRIVER ? HAL_ERROR_KERNEL_FAULT : status, error,
         [&] { return "the driver says " + cl_text(error); });
}

void Stream::fail(uint64_t position, const sdk::Error& error) noexcept {
    fail(position, error.status(), error.vendor_code(), [&] { return std::string(error.what()); });
}

template <class What>
void Stream::fail(uint64_t position, hal_status status, int64_t driver_code, What&& what) noexcept {
    if (outcome_->failed_by(UINT64_MAX - 1)) {
        return;  // the first error stays
    }
    outcome_->status = status;
    outcome_->driver_code = driver_code;
    try {
        outcome_->text = "operation " + std::to_string(position - first_) + " of a stream of device " +
                         std::to_string(device_->ordinal()) + " failed: " + what() +
                         "; later work is skipped until reset_stream or destroy_stream";
    } catch (...) {
        outcome_->text.clear();  // no memory for words; the status says it
    }
    outcome_->failed_at.store(position, std::memory_order_release);
}

Point Stream::tail_locked() {
    return {this, handle_, outcome_, last_, submitted_};
}

Point Stream::tail(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    return tail_locked();
}

std::optional<Point> Stream::tail_if_of(const Device& device) {
    const std::lock_guard lock(mutex_);
    return open_ && device_ == &device ? std::optional(tail_locked()) : std::nullopt;
}

void Stream::mark_locked() {
    enqueue_locked("clEnqueueMarkerWithWaitList", [this](cl_command_queue queue, cl_event* event) {
        return api().clEnqueueMarkerWithWaitList(queue, 0, nullptr, event);
    });
}

void Stream::wait_for(hal_stream handle, const Event& event) {
    const std::lock_guard lock(mutex_);
    require_healthy(handle);
    const Event here = bridged(api(), event, device_->context());
    if (!here || here.get() == last_.get()) {
        return;
    }
    enqueue_locked("clEnqueueBarrierWithWaitList", [&](cl_command_queue queue, cl_event* out) {
        cl_event waited = here.get();
        return api().clEnqueueBarrierWithWaitList(queue, 1, &waited, out);
    });
    ++submitted_;
    flush();
}

void Stream::require_callbacks() {
    if (!callbacks_) {
        callbacks_ = std::make_unique<Callbacks>(device_->instance());
    }
}

// Has the driver push the function when the event has ended.
void Stream::push_when_ended(const Event& event, std::function<void()> function) {
    Callbacks* const callbacks = callbacks_.get();
    callbacks->promise();
    try {
        when_ended(api(), event, [callbacks, function = std::move(function)](cl_int) mutable {
            callbacks->push(std::move(function));
        });
    } catch (...) {
        callbacks->withdraw();
        throw;
    }
}

void Stream::add_callback(hal_stream handle, std::function<void(hal_status)> function) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    require_callbacks();
    mark_locked();
    flush();  // before the wait below: some drivers end what was flushed together together (Mesa's Rusticl)
    const Event before = last_;
    const UserEvent done(api(), device_->context());
    const auto call = [this, handle, done, outcome = outcome_, position = submitted_ + 1,
                       function = std::move(function)] {
        collect(handle);
        try {
            function(outcome->failed_by(position) ? outcome->status : HAL_OK);
        } catch (const sdk::Error& error) {
            fail_callback(handle, outcome, position, error);
        }
        done.complete();  // never as an error: behind one PoCL's queue does not go on
    };
    enqueue_locked("clEnqueueBarrierWithWaitList", [&](cl_command_queue queue, cl_event* out) {
        cl_event waited = done.event().get();
        return api().clEnqueueBarrierWithWaitList(queue, 1, &waited, out);
    });
    ++submitted_;
    try {
        push_when_ended(before, call);
    } catch (...) {
        done.complete(CL_OUT_OF_RESOURCES);
        throw;
    }
    flush();
}

void Stream::fail_callback(hal_stream handle, const std::shared_ptr<Outcome>& outcome, uint64_t position,
                           const sdk::Error& error) noexcept {
    const std::lock_guard lock(mutex_);
    if (handle_ == handle && outcome_ == outcome) {  // not reset meanwhile
        fail(position, error);
    }
}

uint64_t Stream::completed() const noexcept {
    const uint64_t oldest = pending_.empty() ? last_position_ : pending_.front().position;
    return oldest == 0 ? submitted_ : oldest - 1;
}

hal_stream_info Stream::info(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    collect_locked(SIZE_MAX);
    hal_stream_info info{};
    info.device = device_->ordinal();
    info.priority = priority_;
    info.status = outcome_->failed_by(submitted_) ? outcome_->status : HAL_OK;
    info.submitted_count = submitted_ - first_;
    info.completed_count = completed() - first_;
    return info;
}

void Stream::reset(hal_stream handle) {
    const Point point = tail(handle);
    wait(api(), point, shared::Deadline::never(), "reset_stream");
    const std::lock_guard lock(mutex_);
    require_open(handle);
    collect_locked(SIZE_MAX);
    outcome_ = std::make_shared<Outcome>();
}

uint64_t Stream::native_handle(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    return reinterpret_cast<uint64_t>(queue_->get());
}

// ---- Waiting ----

namespace {

// OpenCL has no wait with a limit: the driver tells a thread that sleeps here.
bool ended_by(const Api& api, const Event& event, shared::Deadline deadline) {
    struct Bell {
        std::mutex mutex;
        std::condition_variable rung;
        bool ended = false;
    };
    const auto bell = std::make_shared<Bell>();
    when_ended(api, event, [bell](cl_int) {
        {
            const std::lock_guard lock(bell->mutex);
            bell->ended = true;
        }
        bell->rung.notify_all();
    });
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(deadline.at_ns())};
    std::unique_lock lock(bell->mutex);
    return bell->rung.wait_until(lock, until, [&] { return bell->ended; });
}

}  // namespace

void wait(const Api& api, const Point& point, shared::Deadline deadline, const char* call) {
    if (!point.event) {
        return;
    }
    if (deadline.is_never()) {
        cl_event event = point.event.get();
        static_cast<void>(api.clWaitForEvents(1, &event));  // its status is looked at by report()
    } else if (!point.event.ended() && (deadline.passed() || !ended_by(api, point.event, deadline))) {
        throw sdk::Error(HAL_ERROR_TIMEOUT,
                         std::string(call) + ": the time limit passed before the work was complete; it goes on");
    }
}

void report(const Point& point) {
    if (point.stream != nullptr) {
        point.stream->collect(point.handle);
    }
    if (point.outcome && point.outcome->failed_by(point.position)) {
        point.outcome->raise();
    }
}

}  // namespace hal::opencl

// A stream's inside: its life, its worker, its errors. The entries of table 3 are in stream.cpp.
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <system_error>

#include "instance.hpp"
#include "signals_blocked.hpp"
#include "status_text.hpp"
#include "stream.hpp"

namespace hal::cpu {
namespace {

std::string name_of(hal_stream handle, hal_dev device) {
    if (handle == nullptr) {
        return "the default stream of device " + std::to_string(device);
    }
    char text[32];
    std::snprintf(text, sizeof text, "stream %p", static_cast<void*>(handle));
    return std::string(text) + " of device " + std::to_string(device);
}

}  // namespace

void Stream::open(Instance& instance, hal_dev device, hal_stream handle, int32_t priority) {
    const std::lock_guard lock(mutex_);
    timeline_ = TimelineRef(std::make_unique<Timeline>(instance.waiting(), queue_.produced()));
    progress_ = timeline_;
    status_ = HAL_OK;
    cancel_.store(false, std::memory_order_relaxed);
    closing_.store(false, std::memory_order_relaxed);
    thread_id_.store(0, std::memory_order_relaxed);
    instance_ = &instance;
    waiting_ = &instance.waiting();
    device_ = device;
    handle_ = handle;
    priority_ = priority;
    first_position_ = queue_.produced();
    open_ = true;
}

void Stream::close() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!open_) {
            return;
        }
        open_ = false;
    }
    // Nobody enqueues any more, so the worker ends when it finds the queue empty.
    if (worker_.joinable()) {
        closing_.store(true, std::memory_order_release);
        wake_worker();
        worker_.join();
    }
    queue_.release();
    const std::lock_guard lock(mutex_);
    worker_runs_ = false;
    progress_ = TimelineRef();
    timeline_ = TimelineRef();
}

void Stream::reset(hal_stream handle) {
    Point fresh;
    {
        const std::lock_guard lock(mutex_);
        require_open(handle);
        if (!worker_runs_) {
            return;  // nothing ran, nothing failed
        }
        fresh.timeline = TimelineRef(std::make_unique<Timeline>(*waiting_, queue_.produced()));
        fresh.position = push_locked(handle, [this, timeline = fresh.timeline](hal_status) mutable {
            progress_ = std::move(timeline);
            status_ = HAL_OK;
            return HAL_OK;
        });
        timeline_ = fresh.timeline;
        ++first_position_;
    }
    wake_worker();
    fresh.timeline->wait_until(fresh.position, Deadline::never(), *waiting_);
}

void Stream::require_open(hal_stream handle) const {
    if (!open_ || handle_ != handle) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream is being destroyed, or has been");
    }
}

void Stream::throw_sticky() const {
    throw sdk::Error(timeline_->outcome(UINT64_MAX), timeline_->failure_text());
}

void Stream::require_worker() {
    const shared::SignalsBlocked blocked;
    try {
        worker_ = std::thread([this] { work(); });
    } catch (const std::system_error& error) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                         "no thread for " + name_of(handle_, device_) + ": " + error.what() +
                             "; destroy streams that are not needed, or raise the limit of threads (ulimit -u)",
                         error.code().value());
    }
    worker_runs_ = true;
}

void Stream::unpark() noexcept {
    if (parked_.exchange(0, std::memory_order_acq_rel) != 0) {
        futex_wake(parked_, 1);
    }
}

void Stream::wait_for(hal_stream handle, Point point) {
    {
        const std::lock_guard lock(mutex_);
        require_open(handle);
        if (timeline_->failed()) {
            throw_sticky();
        }
        if (point.timeline == timeline_ || point.reached()) {
            return;
        }
        push_locked(handle, [point = std::move(point), waiting = waiting_] {
            point.timeline->wait_until(point.position, Deadline::never(), *waiting);
            return HAL_OK;
        });
    }
    wake_worker();
}

Point Stream::tail(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    return {timeline_, queue_.produced()};
}

void Stream::tail(hal_stream handle, Point& out) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    out.timeline = timeline_;
    out.position = queue_.produced();
}

Point Stream::tail_if_of(hal_dev device) noexcept {
    const std::lock_guard lock(mutex_);
    if (!open_ || device_ != device) {
        return {};
    }
    return {timeline_, queue_.produced()};
}

hal_stream_info Stream::info(hal_stream handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    hal_stream_info info{};
    info.device = device_;
    info.priority = priority_;
    info.status = timeline_->failed() ? timeline_->outcome(UINT64_MAX) : HAL_OK;
    info.submitted_count = queue_.produced() - first_position_;
    info.completed_count = std::max(timeline_->done(), first_position_) - first_position_;
    return info;
}

uint64_t Stream::thread_id(hal_stream handle) {
    {
        const std::lock_guard lock(mutex_);
        require_open(handle);
        if (!worker_runs_) {
            require_worker();
        }
    }
    thread_id_.wait(0);
    return thread_id_.load();
}

// ---- The worker ----

void Stream::work() noexcept {
    instance_->mark_worker();
    char name[16];
    std::snprintf(name, sizeof name, "hal-cpu%d", device_);
    pthread_setname_np(pthread_self(), name);
    if (priority_ != 0) {
        // Of this thread alone, counted from the process' first thread.
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, static_cast<id_t>(getpid())) + priority_);
    }
    thread_id_.store(static_cast<uint64_t>(syscall(SYS_gettid)));
    thread_id_.notify_all();
    for (;;) {
        if (Task* task = queue_.front(); task != nullptr) {
            run(*task);
        } else if (!closing_.load(std::memory_order_acquire)) {
            idle();
        } else if (queue_.front() == nullptr) {
            return;
        }
    }
}

void Stream::run(Task& task) noexcept {
    if (cancel_.load(std::memory_order_relaxed) && status_ == HAL_OK) [[unlikely]] {
        fail(HAL_ERROR_CANCELLED, "the back end was closed before the work could begin");
    }
    queue_.prefetch_next();
    try {
        if (const hal_status status = task.invoke(task.storage, status_); status < HAL_OK && status_ == HAL_OK) {
            fail(status, shared::describe(status));
        }
    } catch (const sdk::Error& error) {
        fail(error.status(), error.what());
    } catch (const std::exception& error) {
        fail(HAL_ERROR_KERNEL_FAULT, error.what());
    } catch (...) {
        fail(HAL_ERROR_KERNEL_FAULT, "an exception of unknown type");
    }
    const uint64_t position = queue_.pop();
    progress_->complete(position);
}

void Stream::fail(hal_status status, std::string_view what) noexcept {
    if (status_ != HAL_OK) {
        return;  // the first error stays
    }
    status_ = status;
    std::string text;
    try {
        text = "operation " + std::to_string(queue_.consumed()) + " of " + name_of(handle_, device_) + " failed: ";
        text += what;
        text += "; later work is skipped until reset_stream or destroy_stream";
    } catch (...) {
        text.clear();  // no memory for words; the status says it
    }
    progress_->fail(queue_.consumed() + 1, status, std::move(text));
}

// A worker that keeps up with a burst polls exactly the line that the producer writes next. Each look takes that line
// away, and the next push waits for it inside its mutex: 61-63 ns an enqueue. So within a burst the worker looks away
// for about 0.3 us and then finds several operations: 41-44 ns, and 21-24 M operations a second instead of 15. A lone
// launch never meets this: it comes later than a moment after the worker went idle. True if there is work now.
bool Stream::let_producer_lead() noexcept {
    constexpr int moment_polls = 3;
    constexpr int look_away_pauses = 16;
    if (in_a_burst_ || queue_.consumed() - idle_at_ > 1) {
        for (int i = 0; i < look_away_pauses; ++i) {
            cpu_pause();
        }
    }
    idle_at_ = queue_.consumed();
    for (int i = 0; i < moment_polls; ++i) {
        if (queue_.front() != nullptr) {
            in_a_burst_ = true;
            return true;
        }
        cpu_pause();
    }
    in_a_burst_ = false;
    return false;
}

void Stream::idle() noexcept {
    if (let_producer_lead()) {
        return;
    }
    const auto wanted = [this] { return queue_.front() != nullptr || closing_.load(std::memory_order_relaxed); };
    if (waiting_->spin(waiting_->worker_spinners(), wanted)) {
        return;
    }
    parked_.store(1, std::memory_order_relaxed);
    waiting_->heavy_fence();
    if (!wanted()) {
        futex_wait(parked_, 1, Deadline::never());
    }
    parked_.store(0, std::memory_order_relaxed);
}

}  // namespace hal::cpu

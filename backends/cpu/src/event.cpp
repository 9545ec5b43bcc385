// Table 4: events.
#include "event.hpp"

#include <string>
#include <utility>

#include "device.hpp"
#include "instance.hpp"
#include "stream.hpp"
#include "tables.hpp"

namespace hal::cpu {

void Event::open(hal_dev device, hal_event handle, uint32_t flags, std::shared_ptr<SharedRecords> shared) noexcept {
    const std::lock_guard lock(mutex_);
    device_ = device;
    flags_ = flags;
    shared_ = std::move(shared);
    point_ = Point();
    handle_ = handle;
}

void Event::close() noexcept {
    const std::lock_guard lock(mutex_);
    handle_ = nullptr;
    ++version_;  // a stamp that is still under way is late
    point_ = Point();
    shared_.reset();
}

void Event::require_open(hal_event handle) const {
    if (handle_ != handle) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the event is being destroyed, or has been");
    }
}

void Event::record(hal_event handle, Stream& stream, hal_stream stream_handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    if (shared_) {
        const uint64_t number = shared_->begin();
        try {
            stream.push(stream_handle, [shared = shared_, number](hal_status status) {
                shared->complete(number, status);
                return HAL_OK;
            });
        } catch (...) {
            shared_->complete(number, HAL_ERROR_CANCELLED);
            throw;
        }
    } else if ((flags_ & HAL_EVENT_TIMING) != 0) {
        // The stamp takes our mutex, so it comes after the new version is in place.
        point_ = stream.push_point(stream_handle, [this, version = version_ + 1](hal_status) {
            stamp(version);
            return HAL_OK;
        });
        ++version_;
    } else {
        stream.tail(stream_handle, point_);
    }
}

void Event::stamp(uint64_t version) noexcept {
    const uint64_t time_ns = now_ns();
    const std::lock_guard lock(mutex_);
    if (version_ == version) {
        time_ns_ = time_ns;
    }
}

Record Event::latest(hal_event handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    return shared_ ? Record{.shared = shared_, .version = shared_->latest()} : Record{.point = point_};
}

Event::Timed Event::timed(hal_event handle, const char* role) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    if ((flags_ & HAL_EVENT_TIMING) == 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(role) + " was not created with HAL_EVENT_TIMING");
    }
    if (!point_.timeline) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(role) + " was never recorded");
    }
    return {point_, point_.reached(), time_ns_};
}

std::shared_ptr<SharedRecords> Event::shared(hal_event handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    if (!shared_) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "event was not created with HAL_EVENT_IPC");
    }
    return shared_;
}

Event& find_event(Instance& instance, hal_event event) {
    Event* found = instance.events().find(event);
    if (found == nullptr) [[unlikely]] {
        throw sdk::Error(
            HAL_ERROR_INVALID_HANDLE,
            event == nullptr ? "event is NULL" : "the event is not one of this back end, or has been destroyed");
    }
    return *found;
}

Event& find_event(Instance& instance, hal_dev device, hal_event event) {
    static_cast<void>(instance.device(device));
    Event& found = find_event(instance, event);
    if (found.device() != device) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the event belongs to device " + std::to_string(found.device()) +
                                                       ", the call names device " + std::to_string(device));
    }
    return found;
}

hal_event add_event(Instance& instance, hal_dev device, uint32_t flags, std::shared_ptr<SharedRecords> shared) {
    const auto [event, handle] = instance.events().acquire();
    if (event == nullptr) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "too many events; destroy some");
    }
    event->open(device, handle, flags, std::move(shared));
    instance.device(device).event_count.fetch_add(1);
    instance.events().publish(handle);
    return handle;
}

namespace {

hal_status create_event(Instance& instance, hal_dev device, const hal_event_desc* desc, hal_event* out_event) {
    static_cast<void>(instance.device(device));
    hal_event& out = sdk::require(out_event, "out_event");
    const uint32_t flags = sdk::read_struct(desc, "desc").flags;
    constexpr uint32_t known = HAL_EVENT_TIMING | HAL_EVENT_IPC;
    if ((flags & ~known) != 0 || flags == known) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "desc.flags is " + std::to_string(flags) +
                                                         "; allowed is 0, HAL_EVENT_TIMING or HAL_EVENT_IPC, not both");
    }
    out = add_event(instance, device, flags, (flags & HAL_EVENT_IPC) != 0 ? SharedRecords::create() : nullptr);
    return HAL_OK;
}

hal_status destroy_event(Instance& instance, hal_dev device, hal_event event) {
    Event& found = find_event(instance, device, event);
    if (!instance.events().revoke(event)) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the event is being destroyed by another thread");
    }
    found.close();
    instance.events().release(event);
    instance.device(device).event_count.fetch_sub(1);
    return HAL_OK;
}

// Also on a failed stream: the event carries the error.
hal_status record_event(Instance& instance, hal_dev device, hal_stream stream, hal_event event) {
    Stream& target = find_stream(instance, device, stream);
    find_event(instance, device, event).record(event, target, stream);
    return HAL_OK;
}

hal_status query_event(Instance& instance, hal_dev device, hal_event event) {
    const Record record = find_event(instance, device, event).latest(event);
    return record.reached() ? record.report() : HAL_NOT_READY;
}

hal_status synchronize_event(Instance& instance, hal_dev device, hal_event event, uint64_t timeout_ns) {
    instance.refuse_on_worker("synchronize_event");
    const Record record = find_event(instance, device, event).latest(event);
    record.wait(Deadline::after(timeout_ns), instance.waiting(), "synchronize_event");
    return record.report();
}

}  // namespace

const hal_event_table event_table = {
    .header = sdk::header<hal_event_table>(HAL_TABLE_event),
    .create_event = sdk::slot<create_event>,
    .destroy_event = sdk::slot<destroy_event>,
    .record_event = sdk::slot<record_event>,
    .query_event = sdk::slot<query_event>,
    .synchronize_event = sdk::slot<synchronize_event>,
};

}  // namespace hal::cpu

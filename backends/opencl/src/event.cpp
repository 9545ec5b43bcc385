// Tables 4 and 104: events.
#include "event.hpp"

#include "device.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {

void RecordedEvent::open(Device& device, hal_event handle, uint32_t flags) {
    const std::lock_guard lock(mutex_);
    device_ = &device;
    handle_ = handle;
    flags_ = flags;
}

void RecordedEvent::close() {
    const std::lock_guard lock(mutex_);
    handle_ = nullptr;
    point_ = {};
    time_ns_.reset();
}

void RecordedEvent::require_open(hal_event handle) const {
    if (handle_ != handle) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the event is being destroyed, or has been");
    }
}

void RecordedEvent::record(hal_event handle, Stream& stream, hal_stream stream_handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    if ((flags_ & HAL_EVENT_TIMING) == 0) {
        point_ = stream.tail(stream_handle);
        return;
    }
    const auto time_ns = std::make_shared<std::atomic<uint64_t>>(0);
    point_ = stream.marked(stream_handle, [time_ns](cl_int) {
        time_ns->store(shared::now_ns());
        time_ns->notify_all();
    });
    time_ns_ = time_ns;
}

Point RecordedEvent::latest(hal_event handle) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    return point_;
}

RecordedEvent::Timed RecordedEvent::timed(hal_event handle, const char* role) {
    const std::lock_guard lock(mutex_);
    require_open(handle);
    if ((flags_ & HAL_EVENT_TIMING) == 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(role) + " was not created with HAL_EVENT_TIMING");
    }
    if (!time_ns_) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(role) + " was never recorded");
    }
    if (point_.event.ended()) {
        time_ns_->wait(0);  // whoever waited for the event may be here before the driver has called us
    }
    return {point_, time_ns_->load(), profiled_ns(), device_};
}

std::optional<uint64_t> RecordedEvent::profiled_ns() const noexcept {
    return device_->instance().options().profiling ? point_.event.end_ns() : std::nullopt;
}

RecordedEvent& find_event(Instance& instance, hal_event event) {
    RecordedEvent* found = instance.events().find(event);
    if (found == nullptr) [[unlikely]] {
        throw sdk::Error(
            HAL_ERROR_INVALID_HANDLE,
            event == nullptr ? "event is NULL" : "the event is not one of this back end, or has been destroyed");
    }
    return *found;
}

namespace {

RecordedEvent& find_event(Instance& instance, hal_dev device, hal_event event) {
    Device& owner = instance.device(device);
    RecordedEvent& found = opencl::find_event(instance, event);
    if (&found.device() != &owner) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the event belongs to device " +
                                                       std::to_string(found.device().ordinal()) +
                                                       ", the call names device " + std::to_string(device));
    }
    return found;
}

hal_status create_event(Instance& instance, hal_dev device, const hal_event_desc* desc, hal_event* out_event) {
    Device& owner = instance.device(device);
    hal_event& out = sdk::require(out_event, "out_event");
    const uint32_t flags = sdk::read_struct(desc, "desc").flags;
    if (flags == HAL_EVENT_IPC) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED, "OpenCL has no events that another process can wait for");
    }
    if ((flags & ~HAL_EVENT_TIMING) != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "desc.flags is " + std::to_string(flags) + "; allowed is 0 or HAL_EVENT_TIMING");
    }
    const auto [event, handle] = instance.events().acquire();
    if (event == nullptr) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "too many events; destroy some");
    }
    event->open(owner, handle, flags);
    owner.event_count.fetch_add(1);
    instance.events().publish(handle);
    out = handle;
    return HAL_OK;
}

hal_status destroy_event(Instance& instance, hal_dev device, hal_event event) {
    RecordedEvent& found = find_event(instance, device, event);
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
    const Point point = find_event(instance, device, event).latest(event);
    if (!point.event.ended()) {
        return HAL_NOT_READY;
    }
    report(point);
    return HAL_OK;
}

hal_status synchronize_event(Instance& instance, hal_dev device, hal_event event, uint64_t timeout_ns) {
    instance.refuse_in_callback("synchronize_event");
    const Point point = find_event(instance, device, event).latest(event);
    wait(instance.api(), point, shared::Deadline::after(timeout_ns), "synchronize_event");
    report(point);
    return HAL_OK;
}

hal_status event_elapsed(Instance& instance, hal_event start, hal_event end, int64_t* out_elapsed_ns) {
    const auto first = opencl::find_event(instance, start).timed(start, "start");
    const auto last = opencl::find_event(instance, end).timed(end, "end");
    int64_t& elapsed = sdk::require(out_elapsed_ns, "out_elapsed_ns");
    if (first.time_ns == 0 || last.time_ns == 0) {
        return HAL_NOT_READY;
    }
    report(first.point);
    report(last.point);
    // The clocks of two devices have nothing to do with each other, the host's is one.
    const bool one_clock = first.device_ns && last.device_ns && first.device == last.device;
    elapsed = static_cast<int64_t>(one_clock ? *last.device_ns - *first.device_ns : last.time_ns - first.time_ns);
    return HAL_OK;
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

const hal_event_ext_table event_ext_table = {
    .header = sdk::header<hal_event_ext_table>(HAL_TABLE_event_ext),
    .event_elapsed = sdk::slot<event_elapsed>,
};

}  // namespace hal::opencl

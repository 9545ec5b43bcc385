// Tables 3 and 103: streams.
#include "stream.hpp"

#include "device.hpp"
#include "event.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {

Stream& find_stream(Instance& instance, hal_dev device, hal_stream stream) {
    Device& owner = instance.device(device);
    if (stream == nullptr) {
        return owner.default_stream;
    }
    Stream* found = instance.streams().find(stream);
    if (found == nullptr) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream is not one of this back end, or has been destroyed");
    }
    if (&found->device() != &owner) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream belongs to device " +
                                                       std::to_string(found->device().ordinal()) +
                                                       ", the call names device " + std::to_string(device));
    }
    return *found;
}

namespace {

struct Priorities {
    int32_t least, greatest;
};
Priorities priorities_of(const Device& device) {
    return device.info().has_priorities ? Priorities{least_priority, greatest_priority} : Priorities{0, 0};
}

hal_status create_stream(Instance& instance, hal_dev device, const hal_stream_desc* desc, hal_stream* out_stream) {
    Device& owner = instance.device(device);
    hal_stream& out = sdk::require(out_stream, "out_stream");
    const auto description = sdk::read_struct(desc, "desc");
    const auto [least, greatest] = priorities_of(owner);
    if (description.priority > least || description.priority < greatest) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "desc.priority is " + std::to_string(description.priority) +
                                                         "; this device has " + std::to_string(greatest) + " to " +
                                                         std::to_string(least) + ", the lower runs first");
    }
    if (description.flags != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "desc.flags is " + std::to_string(description.flags) + "; no flag is defined, it must be 0");
    }
    const auto [stream, handle] = instance.streams().acquire();
    if (stream == nullptr) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "too many streams; destroy some");
    }
    try {
        stream->open(owner, handle, description.priority);
    } catch (...) {
        instance.streams().release(handle);
        throw;
    }
    owner.stream_count.fetch_add(1);
    instance.streams().publish(handle);
    out = handle;
    return HAL_OK;
}

hal_status destroy_stream(Instance& instance, hal_dev device, hal_stream stream) {
    instance.refuse_in_callback("destroy_stream");
    Stream& found = find_stream(instance, device, stream);
    if (stream == nullptr) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE,
                         "NULL is the default stream of the device, which cannot be destroyed");
    }
    if (!instance.streams().revoke(stream)) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream is being destroyed by another thread");
    }
    found.close();
    instance.streams().release(stream);
    instance.device(device).stream_count.fetch_sub(1);
    return HAL_OK;
}

hal_status query_stream(Instance& instance, hal_dev device, hal_stream stream, hal_stream_info* out_info) {
    Stream& found = find_stream(instance, device, stream);
    const hal_stream_info info = found.info(stream);
    if (out_info != nullptr) {
        static_cast<void>(sdk::write_struct(info, out_info, "out_info"));
    }
    if (info.completed_count < info.submitted_count) {
        return HAL_NOT_READY;
    }
    report(found.tail(stream));
    return HAL_OK;
}

hal_status synchronize_stream(Instance& instance, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
    instance.refuse_in_callback("synchronize_stream");
    Stream& found = find_stream(instance, device, stream);
    const Point point = found.tail(stream);
    wait(instance.api(), point, shared::Deadline::after(timeout_ns), "synchronize_stream");
    found.device().memory.sweep();
    report(point);
    return HAL_OK;
}

// Also on a failed stream: the callback gets the error.
hal_status stream_add_callback(Instance& instance, hal_dev device, hal_stream stream, hal_stream_callback callback,
                               void* user_data) {
    if (callback == nullptr) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "callback is NULL");
    }
    find_stream(instance, device, stream).add_callback(stream, [=](hal_status status) {
        callback(user_data, device, stream, status);
    });
    return HAL_OK;
}

hal_status stream_wait_event(Instance& instance, hal_dev device, hal_stream stream, hal_event event) {
    Stream& found = find_stream(instance, device, stream);
    found.wait_for(stream, find_event(instance, event).latest(event).event);
    return HAL_OK;
}

hal_status stream_priority_range(Instance& instance, hal_dev device, int32_t* out_least, int32_t* out_greatest) {
    const auto [lowest, highest] = priorities_of(instance.device(device));
    int32_t& least = sdk::require(out_least, "out_least");
    int32_t& greatest = sdk::require(out_greatest, "out_greatest");
    least = lowest;
    greatest = highest;
    return HAL_OK;
}

hal_status reset_stream(Instance& instance, hal_dev device, hal_stream stream) {
    instance.refuse_in_callback("reset_stream");
    find_stream(instance, device, stream).reset(stream);
    return HAL_OK;
}

// The cl_command_queue.
hal_status stream_native_handle(Instance& instance, hal_dev device, hal_stream stream, uint64_t* out_handle) {
    uint64_t& handle = sdk::require(out_handle, "out_handle");
    handle = find_stream(instance, device, stream).native_handle(stream);
    return HAL_OK;
}

}  // namespace

const hal_stream_table stream_table = {
    .header = sdk::header<hal_stream_table>(HAL_TABLE_stream),
    .create_stream = sdk::slot<create_stream>,
    .destroy_stream = sdk::slot<destroy_stream>,
    .query_stream = sdk::slot<query_stream>,
    .synchronize_stream = sdk::slot<synchronize_stream>,
    .stream_add_callback = sdk::slot<stream_add_callback>,
    .stream_wait_event = sdk::slot<stream_wait_event>,
};

const hal_stream_ext_table stream_ext_table = {
    .header = sdk::header<hal_stream_ext_table>(HAL_TABLE_stream_ext),
    .stream_priority_range = sdk::slot<stream_priority_range>,
    .reset_stream = sdk::slot<reset_stream>,
    .stream_native_handle = sdk::slot<stream_native_handle>,
};

}  // namespace hal::opencl

// Table 3: streams.
#include "stream.hpp"

#include <string>

#include "device.hpp"
#include "event.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::cpu {

Stream& find_stream(Instance& instance, hal_dev device, hal_stream stream) {
    Device& owner = instance.device(device);
    if (stream == nullptr) {
        return owner.default_stream;
    }
    Stream* found = instance.streams().find(stream);
    if (found == nullptr) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream is not one of this back end, or has been destroyed");
    }
    if (found->device() != device) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the stream belongs to device " + std::to_string(found->device()) +
                                                       ", the call names device " + std::to_string(device));
    }
    return *found;
}

namespace {

void check_description(const hal_stream_desc& desc) {
    const PriorityRange range = priority_range();
    if (desc.priority < range.greatest || desc.priority > range.least) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "desc.priority is " + std::to_string(desc.priority) +
                                                         "; allowed is " + std::to_string(range.greatest) +
                                                         " (runs first) to " + std::to_string(range.least));
    }
    if (desc.flags != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "desc.flags is " + std::to_string(desc.flags) + "; no flag is defined, it must be 0");
    }
}

hal_status create_stream(Instance& instance, hal_dev device, const hal_stream_desc* desc, hal_stream* out_stream) {
    Device& owner = instance.device(device);
    hal_stream& out = sdk::require(out_stream, "out_stream");
    const auto description = sdk::read_struct(desc, "desc");
    check_description(description);
    const auto [stream, handle] = instance.streams().acquire();
    if (stream == nullptr) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "too many streams; destroy some");
    }
    try {
        stream->open(instance, device, handle, description.priority);
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
    instance.refuse_on_worker("destroy_stream");
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
    if (out_info != nullptr) {
        // On a failed stream too: its status and counts are what the caller wants to see then.
        static_cast<void>(sdk::write_struct(found.info(stream), out_info, "out_info"));
    }
    Record tail{.point = found.tail(stream)};
    if (!tail.reached() && !tail.point.timeline->failed()) {
        return HAL_NOT_READY;
    }
    tail.point.position = UINT64_MAX;  // whatever failed, also ahead of this point
    return tail.report();
}

hal_status synchronize_stream(Instance& instance, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
    instance.refuse_on_worker("synchronize_stream");
    const Record tail{.point = find_stream(instance, device, stream).tail(stream)};
    tail.wait(Deadline::after(timeout_ns), instance.waiting(), "synchronize_stream");
    return tail.report();
}

// Also on a failed stream: the callback gets the error.
hal_status stream_add_callback(Instance& instance, hal_dev device, hal_stream stream, hal_stream_callback callback,
                               void* user_data) {
    if (callback == nullptr) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "callback is NULL");
    }
    find_stream(instance, device, stream).push(stream, [=](hal_status status) {
        callback(user_data, device, stream, status);
        return HAL_OK;
    });
    return HAL_OK;
}

// The stream fails with REMOTE if the process dies before it completes the record: what the work behind it needs is not
// there.
void wait_for_process(Instance& instance, Stream& stream, hal_stream handle, Record record) {
    stream.push(handle, [&instance, record = std::move(record)] {
        return record.shared->wait_until(record.version, Deadline::never(), [&] { return instance.ending(); });
    });
}

hal_status stream_wait_event(Instance& instance, hal_dev device, hal_stream stream, hal_event event) {
    Stream& found = find_stream(instance, device, stream);
    Record record = find_event(instance, event).latest(event);
    if (record.shared) {
        wait_for_process(instance, found, stream, std::move(record));
    } else {
        found.wait_for(stream, std::move(record.point));
    }
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

}  // namespace hal::cpu

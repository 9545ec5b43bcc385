// Table 103: priorities, recovery and native handles of streams.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "device.hpp"
#include "instance.hpp"
#include "stream.hpp"
#include "tables.hpp"

namespace hal::cpu {

PriorityRange priority_range() noexcept {
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
    constexpr int most_nice = 19;
    return {.least = errno == 0 ? std::max(0, most_nice - std::max(0, nice)) : 0, .greatest = 0};
}

namespace {

hal_status stream_priority_range(Instance& instance, hal_dev device, int32_t* out_least, int32_t* out_greatest) {
    static_cast<void>(instance.device(device));
    int32_t& least = sdk::require(out_least, "out_least");
    int32_t& greatest = sdk::require(out_greatest, "out_greatest");
    const PriorityRange range = priority_range();
    least = range.least;
    greatest = range.greatest;
    return HAL_OK;
}

hal_status reset_stream(Instance& instance, hal_dev device, hal_stream stream) {
    instance.refuse_on_worker("reset_stream");
    find_stream(instance, device, stream).reset(stream);
    return HAL_OK;
}

// The kernel's id of the worker thread, for taskset, perf and the like.
hal_status stream_native_handle(Instance& instance, hal_dev device, hal_stream stream, uint64_t* out_handle) {
    uint64_t& handle = sdk::require(out_handle, "out_handle");
    handle = find_stream(instance, device, stream).thread_id(stream);
    return HAL_OK;
}

}  // namespace

const hal_stream_ext_table stream_ext_table = {
    .header = sdk::header<hal_stream_ext_table>(HAL_TABLE_stream_ext),
    .stream_priority_range = sdk::slot<stream_priority_range>,
    .reset_stream = sdk::slot<reset_stream>,
    .stream_native_handle = sdk::slot<stream_native_handle>,
};

}  // namespace hal::cpu

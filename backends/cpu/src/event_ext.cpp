// Table 104: time between events, and events of other processes. An imported event can do all that the exported one
// can: any process may record it, and waits everywhere are bound to the newest record of any.
#include "device.hpp"
#include "event.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::cpu {
namespace {

hal_status event_elapsed(Instance& instance, hal_event start, hal_event end, int64_t* out_elapsed_ns) {
    int64_t& out = sdk::require(out_elapsed_ns, "out_elapsed_ns");
    Event& first = find_event(instance, start);
    Event& last = find_event(instance, end);
    const Event::Timed from = first.timed(start, "start");
    const Event::Timed to = last.timed(end, "end");
    if (!from.reached || !to.reached) {
        return HAL_NOT_READY;
    }
    static_cast<void>(Record{.point = from.point}.report());
    static_cast<void>(Record{.point = to.point}.report());
    out = static_cast<int64_t>(to.time_ns - from.time_ns);
    return HAL_OK;
}

hal_status event_ipc_export(Instance& instance, hal_dev device, hal_event event, hal_ipc_handle* out_handle) {
    hal_ipc_handle& out = sdk::require(out_handle, "out_handle");
    out = find_event(instance, device, event).shared(event)->handle();
    return HAL_OK;
}

hal_status event_ipc_import(Instance& instance, hal_dev device, const hal_ipc_handle* handle, hal_event* out_event) {
    static_cast<void>(instance.device(device));
    hal_event& out = sdk::require(out_event, "out_event");
    out = add_event(instance, device, HAL_EVENT_IPC, SharedRecords::open(sdk::require(handle, "handle")));
    return HAL_OK;
}

}  // namespace

const hal_event_ext_table event_ext_table = {
    .header = sdk::header<hal_event_ext_table>(HAL_TABLE_event_ext),
    .event_elapsed = sdk::slot<event_elapsed>,
    .event_ipc_export = sdk::slot<event_ipc_export>,
    .event_ipc_import = sdk::slot<event_ipc_import>,
};

}  // namespace hal::cpu

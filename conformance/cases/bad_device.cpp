// Every entry that names a device refuses -1, the device count and INT32_MAX with INVALID_DEVICE, and does nothing
// else.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

// Arguments that would be right on a real device.
struct Good {
    explicit Good(Test& t) : event(t.facts.has(E::create_event) ? t.event() : nullptr) {
        if (t.facts.has(E::create_stream)) {
            stream = t.stream();
        }
        if (t.facts.has(E::device_memory_allocate) && t.facts.has(E::memory_copy_h2d)) {
            ptr = t.device(256).ptr;
        }
    }
    char text[64] = {};
    uint64_t size = 77;
    int32_t number = 77;
    hal_dptr ptr = 0;
    hal_dptr out_ptr = 77;
    void* out_host = nullptr;
    uint8_t host[256] = {};
    hal_stream stream = nullptr;
    hal_stream out_stream = nullptr;
    hal_event event = nullptr;
    hal_event out_event = nullptr;
    hal_version version{{sizeof(hal_version), 0, nullptr}, 77, 0, 0, 0, {}};
    hal_compute_capability capability{{sizeof(hal_compute_capability), 0, nullptr}, 77, 0, 0, 0, {}};
    hal_device_properties properties{{sizeof(hal_device_properties), 0, nullptr}, 77, 0, 0, 0, 0, {}, {}, {}};
    hal_memory_stats stats{{sizeof(hal_memory_stats), 0, nullptr}, 77, 0, 0, 0, 0, 0};
    hal_copy_2d copy{};
    hal_ipc_handle handle{};

    [[nodiscard]] bool outputs_untouched() const {
        return size == 77 && number == 77 && out_ptr == 77 && out_host == nullptr && out_stream == nullptr &&
               out_event == nullptr && version.major == 77 && capability.major == 77 && properties.kind == 77 &&
               stats.total_bytes == 77 && text[0] == 0;
    }
};

#define REFUSED(id, clause, entry, ...)                                              \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::entry}, bad_devices())      \
    (Test & t) {                                                                     \
        Good g(t);                                                                   \
        const hal_dev dev = t.bad_device();                                          \
        t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.entry(__VA_ARGS__); }); \
        t.check(g.outputs_untouched(), "outputs untouched by the refusal");          \
    }

void nothing(void*, hal_dev, hal_stream, hal_status) {}

REFUSED("45079.T1.get_device_name.err.bad_device", "45079/T1.1", get_device_name, dev, g.text, sizeof g.text, &g.size)
REFUSED("45079.T1.get_device_type.err.bad_device", "45079/T1.2", get_device_type, dev, g.text, sizeof g.text, &g.size)
REFUSED("45079.T1.get_driver_version.err.bad_device", "45079/T1.3", get_driver_version, dev, &g.version)
REFUSED("45079.T1.get_runtime_version.err.bad_device", "45079/T1.4", get_runtime_version, dev, &g.version)
REFUSED("45079.T1.set_device.err.bad_device", "45079/T1.5", set_device, dev)
REFUSED("45079.T1.synchronize_device.err.bad_device", "45079/T1.7", synchronize_device, dev, HAL_NO_TIMEOUT)
REFUSED("45079.T1.get_compute_capability.err.bad_device", "45079/T1.10", get_compute_capability, dev, &g.capability)
REFUSED("45079.T1.init_device.err.bad_device", "45079/T1.13", init_device, dev)
REFUSED("45079.T1.deinit_device.err.bad_device", "45079/T1.14", deinit_device, dev)
REFUSED("hal.device_ext.get_device_properties.err.bad_device", "45079/T1.1", get_device_properties, dev, &g.properties)
REFUSED("hal.device_ext.device_time.err.bad_device", "45079/T1.1", device_time, dev, &g.size)

REFUSED("45079.T2.device_memory_allocate.err.bad_device", "45079/T2.1", device_memory_allocate, dev, 256, &g.out_ptr)
REFUSED("45079.T2.device_memory_deallocate.err.bad_device", "45079/T2.2", device_memory_deallocate, dev, g.ptr, 0)
REFUSED("45079.T2.host_memory_allocate.err.bad_device", "45079/T2.3", host_memory_allocate, dev, 256, &g.out_host)
REFUSED("45079.T2.host_memory_deallocate.err.bad_device", "45079/T2.4", host_memory_deallocate, dev, g.host, 0)
REFUSED("45079.T2.unified_memory_allocate.err.bad_device", "45079/T2.5", unified_memory_allocate, dev, 256, &g.out_ptr)
REFUSED("45079.T2.unified_memory_deallocate.err.bad_device", "45079/T2.6", unified_memory_deallocate, dev, g.ptr, 0)
REFUSED("45079.T2.memory_copy_h2d.err.bad_device", "45079/T2.7", memory_copy_h2d, dev, g.ptr, g.host, 256)
REFUSED("45079.T2.memory_copy_d2h.err.bad_device", "45079/T2.8", memory_copy_d2h, dev, g.host, g.ptr, 256)
REFUSED("45079.T2.memory_copy_d2d.err.bad_device", "45079/T2.9", memory_copy_d2d, dev, g.ptr, g.ptr, 256)
REFUSED("45079.T2.memory_copy_p2p.err.bad_dst_device", "45079/T2.10", memory_copy_p2p, dev, g.ptr, 0, g.ptr, 256)
REFUSED("45079.T2.memory_copy_p2p.err.bad_src_device", "45079/T2.10", memory_copy_p2p, 0, g.ptr, dev, g.ptr, 256)
REFUSED("45079.T2.async_memory_copy_h2d.err.bad_device", "45079/T2.11", async_memory_copy_h2d, dev, g.stream, g.ptr,
        g.host, 256)
REFUSED("45079.T2.async_memory_copy_d2h.err.bad_device", "45079/T2.12", async_memory_copy_d2h, dev, g.stream, g.host,
        g.ptr, 256)
REFUSED("45079.T2.async_memory_copy_d2d.err.bad_device", "45079/T2.13", async_memory_copy_d2d, dev, g.stream, g.ptr,
        g.ptr, 256)
REFUSED("45079.T2.async_memory_copy_p2p.err.bad_dst_device", "45079/T2.14", async_memory_copy_p2p, dev, g.ptr, 0, g.ptr,
        g.stream, 256)
REFUSED("45079.T2.async_memory_copy_p2p.err.bad_src_device", "45079/T2.14", async_memory_copy_p2p, 0, g.ptr, dev, g.ptr,
        g.stream, 256)
REFUSED("45079.T2.device_memory_set.err.bad_device", "45079/T2.15", device_memory_set, dev, g.ptr, 1, 256)
REFUSED("45079.T2.device_memory_stats.err.bad_device", "45079/T2.16", device_memory_stats, dev, &g.stats)
REFUSED("45079.T2.device_min_chunk_size.err.bad_device", "45079/T2.17", device_min_chunk_size, dev, &g.size)
REFUSED("45079.T2.device_max_chunk_size.err.bad_device", "45079/T2.18", device_max_chunk_size, dev, &g.size)
REFUSED("45079.T2.device_max_alloc_size.err.bad_device", "45079/T2.19", device_max_alloc_size, dev, &g.size)
REFUSED("45079.T2.device_extra_padding_size.err.bad_device", "45079/T2.20", device_extra_padding_size, dev, &g.size)
REFUSED("45079.T2.device_init_alloc_size.err.bad_device", "45079/T2.21", device_init_alloc_size, dev, &g.size)
REFUSED("45079.T2.device_realloc_size.err.bad_device", "45079/T2.22", device_realloc_size, dev, &g.size)

REFUSED("hal.memory_ext.async_memory_allocate.err.bad_device", "46345/T5", async_memory_allocate, dev, g.stream, 256,
        &g.out_ptr)
REFUSED("hal.memory_ext.async_memory_deallocate.err.bad_device", "46345/T5", async_memory_deallocate, dev, g.stream,
        g.ptr)
REFUSED("hal.memory_ext.async_memory_set.err.bad_device", "46345/T5", async_memory_set, dev, g.stream, g.ptr, 1, 256)
REFUSED("hal.memory_ext.memory_copy_2d.err.bad_device", "45079/T2.9", memory_copy_2d, dev, &g.copy)
REFUSED("hal.memory_ext.async_memory_copy_2d.err.bad_device", "45079/T2.13", async_memory_copy_2d, dev, g.stream,
        &g.copy)
REFUSED("hal.memory_ext.aligned_memory_allocate.err.bad_device", "45079/T2.1", aligned_memory_allocate, dev, 256, 4096,
        &g.out_ptr)
REFUSED("hal.memory_ext.host_memory_register.err.bad_device", "45079/T2.3", host_memory_register, dev, g.host, 256)
REFUSED("hal.memory_ext.host_memory_unregister.err.bad_device", "45079/T2.4", host_memory_unregister, dev, g.host)
REFUSED("hal.memory_ext.peer_access_query.err.bad_device", "45079/T2.10", peer_access_query, dev, 0, &g.number)
REFUSED("hal.memory_ext.peer_access_query.err.bad_peer", "45079/T2.10", peer_access_query, 0, dev, &g.number)
REFUSED("hal.memory_ext.peer_access_enable.err.bad_device", "45079/T2.10", peer_access_enable, dev, 0)
REFUSED("hal.memory_ext.peer_access_enable.err.bad_peer", "45079/T2.10", peer_access_enable, 0, dev)
REFUSED("hal.memory_ext.peer_access_disable.err.bad_device", "45079/T2.10", peer_access_disable, dev, 0)
REFUSED("hal.memory_ext.memory_ipc_export.err.bad_device", "45079/T2.1", memory_ipc_export, dev, g.ptr, &g.handle)
REFUSED("hal.memory_ext.memory_ipc_import.err.bad_device", "45079/T2.1", memory_ipc_import, dev, &g.handle, &g.out_ptr)
REFUSED("hal.memory_ext.memory_ipc_close.err.bad_device", "45079/T2.1", memory_ipc_close, dev, g.ptr)
REFUSED("hal.memory_ext.memory_trim.err.bad_device", "45079/T2.16", memory_trim, dev, 0)
REFUSED("hal.memory_ext.memory_reset_peak.err.bad_device", "45079/T2.16", memory_reset_peak, dev)

REFUSED("45079.T3.create_stream.err.bad_device", "45079/T3.1", create_stream, dev, nullptr, &g.out_stream)
REFUSED("45079.T3.destroy_stream.err.bad_device", "45079/T3.2", destroy_stream, dev, g.stream)
REFUSED("45079.T3.query_stream.err.bad_device", "45079/T3.3", query_stream, dev, g.stream, nullptr)
REFUSED("45079.T3.synchronize_stream.err.bad_device", "45079/T3.4", synchronize_stream, dev, g.stream, HAL_NO_TIMEOUT)
REFUSED("45079.T3.stream_add_callback.err.bad_device", "45079/T3.5", stream_add_callback, dev, g.stream, &nothing,
        nullptr)
REFUSED("45079.T3.stream_wait_event.err.bad_device", "45079/T3.6", stream_wait_event, dev, g.stream, g.event)
REFUSED("hal.stream_ext.stream_priority_range.err.bad_device", "46345/T5", stream_priority_range, dev, &g.number,
        &g.number)
REFUSED("hal.stream_ext.reset_stream.err.bad_device", "45079/T3.1", reset_stream, dev, g.stream)
REFUSED("hal.stream_ext.stream_native_handle.err.bad_device", "45079/T3.1", stream_native_handle, dev, g.stream,
        &g.size)

REFUSED("45079.T4.create_event.err.bad_device", "45079/T4.1", create_event, dev, nullptr, &g.out_event)
REFUSED("45079.T4.destroy_event.err.bad_device", "45079/T4.2", destroy_event, dev, g.event)
REFUSED("45079.T4.record_event.err.bad_device", "45079/T4.3", record_event, dev, nullptr, g.event)
REFUSED("45079.T4.query_event.err.bad_device", "45079/T4.4", query_event, dev, g.event)
REFUSED("45079.T4.synchronize_event.err.bad_device", "45079/T4.5", synchronize_event, dev, g.event, HAL_NO_TIMEOUT)
REFUSED("hal.event_ext.event_ipc_export.err.bad_device", "45079/T4.1", event_ipc_export, dev, g.event, &g.handle)
REFUSED("hal.event_ext.event_ipc_import.err.bad_device", "45079/T4.1", event_ipc_import, dev, &g.handle, &g.out_event)

}  // namespace
}  // namespace hal::conformance

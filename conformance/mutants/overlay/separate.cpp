// Mutants of back ends whose memory the host cannot reach.
#include <cstring>
#include <map>
#include <mutex>

#include "kernel_list.hpp"
#include "overlay.hpp"

namespace hal::mutants {
namespace {

// The begin of the allocation that holds the address.
hal_dptr begin_of(hal_instance* self, hal_dptr address) {
    hal_memory_attributes attributes{.header = {sizeof attributes, 0, nullptr}};
    return base.memory_ext.get_memory_attributes(self, address, &attributes) == HAL_OK ? attributes.base : address;
}

}  // namespace

// ---- Which memory ----

void separate_device_address_followed(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance*, hal_dev, hal_dptr dst, hal_dptr src, uint64_t size) {
        std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), size);
        return hal_status{HAL_OK};
    };
    plugin.memory.memory_copy_p2p = [](hal_instance*, hal_dev, hal_dptr dst, hal_dev, hal_dptr src, uint64_t size) {
        std::memcpy(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), size);
        return hal_status{HAL_OK};
    };
}

void separate_host_pointer_as_device(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        return base.memory.memory_copy_d2d(self, device, dst, reinterpret_cast<hal_dptr>(src), size);
    };
}

// ---- Where in it ----

void separate_h2d_offset_dropped(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        return base.memory.memory_copy_h2d(self, device, begin_of(self, dst), src, size);
    };
}

void separate_d2h_offset_dropped(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_d2h(self, device, dst, begin_of(self, src), size);
    };
}

void separate_set_offset_dropped(Plugin& plugin) {
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        return base.memory.device_memory_set(self, device, begin_of(self, ptr), value, size);
    };
}

void separate_async_offset_dropped(Plugin& plugin) {
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             hal_dptr src, uint64_t size) {
        return base.memory.async_memory_copy_d2d(self, device, stream, dst, begin_of(self, src), size);
    };
}

void separate_kernel_offset_dropped(Plugin& plugin) {
    change_list(plugin, [] {
        for (hal_kernel& kernel : list.kernels) {
            kernel.run = [](const hal_kernel_call* call) {
                if (call == nullptr || call->output_count != 1 || call->outputs == nullptr ||
                    call->outputs[0] == nullptr) {
                    return run_base(*call);
                }
                hal_tensor output = *call->outputs[0];
                output.data = begin_of(call->instance, output.data);
                const hal_tensor* const outputs[1] = {&output};
                hal_kernel_call changed = *call;
                changed.outputs = outputs;
                return run_base(changed);
            };
        }
    });
}

// ---- Which queue ----

void separate_p2p_wrong_queue(Plugin& plugin) {
    plugin.memory.async_memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                             hal_dptr src, hal_stream stream, uint64_t size) {
        const hal_status status = base.stream.query_stream(self, src_device, stream, nullptr);
        return status < HAL_OK
                   ? status
                   : base.memory.async_memory_copy_p2p(self, dst_device, dst, src_device, src, nullptr, size);
    };
}

void separate_h2d_wrong_queue(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        return base.memory.async_memory_copy_h2d(self, device, nullptr, dst, src, size);
    };
}

// ---- Whose event ----

namespace {
std::mutex events_mutex;
std::map<hal_event, hal_dev> device_of_event;
}  // namespace

void separate_foreign_event_ignored(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        const hal_status status = base.event.create_event(self, device, desc, out);
        if (status == HAL_OK) {
            const std::lock_guard lock(events_mutex);
            device_of_event[*out] = device;
        }
        return status;
    };
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        {
            const std::lock_guard lock(events_mutex);
            const auto found = device_of_event.find(event);
            if (found != device_of_event.end() && found->second != device) {
                return hal_status{HAL_OK};
            }
        }
        return base.stream.stream_wait_event(self, device, stream, event);
    };
}

}  // namespace hal::mutants

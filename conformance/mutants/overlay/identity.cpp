// Mutants of table 1: what a device says of itself depends on the moment, the thread or the process that asks.
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "overlay.hpp"

namespace hal::mutants {

namespace {
bool is_text(hal_status status, uint64_t capacity) {
    return status == HAL_OK && capacity > 4;
}

template <class Version>
hal_status count_up(hal_instance* self, hal_dev device, hal_version* out, Version entry) {
    static std::atomic<uint32_t> calls{0};
    const hal_status status = entry(self, device, out);
    if (status == HAL_OK && out->header.size == sizeof *out) {
        out->patch = ++calls;
    }
    return status;
}

hal_status reversed_list(hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count, bool reverse) {
    const hal_status status = base.device.get_device_list(self, devices, capacity, out_count);
    if (status == HAL_OK && reverse) {
        std::reverse(devices, devices + *out_count);
    }
    return status;
}
}  // namespace

void dev_type_wanders(Plugin& plugin) {
    plugin.device.get_device_type = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        static std::atomic<unsigned> calls{0};
        const hal_status status = base.device.get_device_type(self, device, buffer, capacity, out_size);
        if (is_text(status, capacity)) {
            buffer[0] = static_cast<char>('a' + calls++ % 26);
        }
        return status;
    };
}

void dev_capability_wanders(Plugin& plugin) {
    plugin.device.get_compute_capability = [](hal_instance* self, hal_dev device, hal_compute_capability* out) {
        static std::atomic<uint32_t> calls{0};
        const hal_status status = base.device.get_compute_capability(self, device, out);
        if (status == HAL_OK && out->header.size == sizeof *out) {
            out->compute_units = 1 + calls++ % 16;
        }
        return status;
    };
}

void dev_versions_count_up(Plugin& plugin) {
    plugin.device.get_driver_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        return count_up(self, device, out, base.device.get_driver_version);
    };
    plugin.device.get_runtime_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        return count_up(self, device, out, base.device.get_runtime_version);
    };
}

// A version can be had only where a stream has been made, as a driver that makes its context then.
void dev_versions_need_a_stream(Plugin& plugin) {
    static std::atomic<hal_instance*> ready{nullptr};
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        ready = self;
        return base.stream.create_stream(self, device, desc, out);
    };
    plugin.device.get_driver_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        return ready == self ? base.device.get_driver_version(self, device, out)
                             : refuse(self, HAL_ERROR_NOT_INITIALIZED, "there is no context yet");
    };
    plugin.device.get_runtime_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        return ready == self ? base.device.get_runtime_version(self, device, out)
                             : refuse(self, HAL_ERROR_NOT_INITIALIZED, "there is no context yet");
    };
}

// The thread that asked first sees another order than all others.
void dev_list_of_thread(Plugin& plugin) {
    plugin.device.get_device_list = [](hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
        static const pid_t first = gettid();
        return reversed_list(self, devices, capacity, out_count, gettid() != first);
    };
}

// As where a driver numbers devices in the order in which they answer.
void dev_list_of_process(Plugin& plugin) {
    plugin.device.get_device_list = [](hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
        return reversed_list(self, devices, capacity, out_count, getpid() % 2 != 0);
    };
}

void dev_name_of_process(Plugin& plugin) {
    plugin.device.get_device_name = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_name(self, device, buffer, capacity, out_size);
        if (is_text(status, capacity)) {
            for (unsigned i = 0; i < 4; ++i) {
                buffer[i] = static_cast<char>('a' + (static_cast<unsigned>(getpid()) >> (4 * i)) % 16);
            }
        }
        return status;
    };
}

// ---- What belongs together ----

void dev_kind_of_another(Plugin& plugin) {
    plugin.device_ext.get_device_properties = [](hal_instance* self, hal_dev device, hal_device_properties* out) {
        const hal_status status = base.device_ext.get_device_properties(self, device, out);
        if (status == HAL_OK && out->header.size == sizeof *out) {
            out->kind = HAL_KIND_FPGA;
        }
        return status;
    };
}

void dev_type_is_the_name(Plugin& plugin) {
    plugin.device.get_device_type = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        return base.device.get_device_name(self, device, buffer, capacity, out_size);
    };
}

// Equal devices of one name, each of a model of its own.
void dev_types_numbered(Plugin& plugin) {
    plugin.device.get_device_name = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const bool known = device >= 0 && device < device_count(self);
        return base.device.get_device_name(self, known ? 0 : device, buffer, capacity, out_size);
    };
    plugin.device.get_device_type = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_type(self, device, buffer, capacity, out_size);
        if (is_text(status, capacity)) {
            buffer[0] = static_cast<char>('0' + device);
        }
        return status;
    };
}

}  // namespace hal::mutants

// Mutants of tables 1 and 101: devices.
#include <atomic>
#include <cstring>
#include <string>

#include "overlay.hpp"

namespace hal::mutants {

// ---- The current device ----

void dev_set_ignored(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        return status == HAL_OK ? base.device.set_device(self, 0) : status;
    };
}

namespace {
std::atomic<hal_dev> current_of_all{0};
}
void dev_global_current(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status == HAL_OK) {
            current_of_all = device;
        }
        return status;
    };
    plugin.device.get_device = [](hal_instance* self, hal_dev* out_device) {
        const hal_status status = base.device.get_device(self, out_device);
        if (status == HAL_OK) {
            *out_device = current_of_all;
        }
        return status;
    };
}

// A thread that has never chosen starts where the last one to choose was.
void dev_new_thread_inherits(Plugin& plugin) {
    static thread_local bool chosen = false;
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status == HAL_OK) {
            chosen = true;
            current_of_all = device;
        }
        return status;
    };
    plugin.device.get_device = [](hal_instance* self, hal_dev* out_device) {
        const hal_status status = base.device.get_device(self, out_device);
        if (status == HAL_OK && !chosen) {
            *out_device = current_of_all;
        }
        return status;
    };
}

void dev_entry_changes_current(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_OK) {
            hal_dev now = 0;
            (void)base.device.get_device(self, &now);
            (void)base.device.set_device(self, (now + 1) % device_count(self));
        }
        return status;
    };
}

void dev_get_not_written(Plugin& plugin) {
    plugin.device.get_device = [](hal_instance* self, hal_dev* out_device) {
        hal_dev unseen = 0;
        return base.device.get_device(self, out_device == nullptr ? nullptr : &unseen);
    };
}

void dev_bad_index_switches(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status != HAL_OK) {
            hal_dev now = 0;
            (void)base.device.get_device(self, &now);
            (void)base.device.set_device(self, (now + 1) % device_count(self));
        }
        return status;
    };
}

void dev_current_survives_finalize(Plugin& plugin) {
    static thread_local hal_dev kept = 0;
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status == HAL_OK) {
            kept = device;
        }
        return status;
    };
    plugin.device.get_device = [](hal_instance* self, hal_dev* out_device) {
        const hal_status status = base.device.get_device(self, out_device);
        if (status == HAL_OK) {
            *out_device = kept;
        }
        return status;
    };
}

// ---- How many, which ----

void dev_count_grows(Plugin& plugin) {
    plugin.device.get_device_count = [](hal_instance* self, int32_t* out_count) {
        static std::atomic<int> calls{0};
        const hal_status status = base.device.get_device_count(self, out_count);
        if (status == HAL_OK && calls++ % 2 == 1) {
            ++*out_count;
        }
        return status;
    };
}

void dev_count_too_big(Plugin& plugin) {
    plugin.device.get_device_count = [](hal_instance* self, int32_t* out_count) {
        const hal_status status = base.device.get_device_count(self, out_count);
        if (status == HAL_OK) {
            ++*out_count;
        }
        return status;
    };
}

void dev_list_twice(Plugin& plugin) {
    plugin.device.get_device_list = [](hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
        const hal_status status = base.device.get_device_list(self, devices, capacity, out_count);
        if (status >= 0 && capacity > 1) {
            devices[1] = devices[0];
        }
        return status;
    };
}

void dev_list_overruns(Plugin& plugin) {
    plugin.device.get_device_list = [](hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
        const hal_status status = base.device.get_device_list(self, devices, capacity, out_count);
        if (status == HAL_INCOMPLETE && devices != nullptr) {
            devices[capacity] = static_cast<hal_dev>(capacity);
        }
        return status;
    };
}

void dev_list_incomplete_as_ok(Plugin& plugin) {
    plugin.device.get_device_list = [](hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
        const hal_status status = base.device.get_device_list(self, devices, capacity, out_count);
        return status == HAL_INCOMPLETE ? HAL_OK : status;
    };
}

// ---- Texts ----

void dev_name_empty(Plugin& plugin) {
    plugin.device.get_device_name = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_name(self, device, buffer, capacity, out_size);
        if (status != HAL_OK && status != HAL_ERROR_BUFFER_TOO_SMALL) {
            return status;
        }
        *out_size = 1;
        if (capacity == 0) {
            return status;
        }
        buffer[0] = '\0';
        return HAL_OK;
    };
}

void dev_name_not_utf8(Plugin& plugin) {
    plugin.device.get_device_name = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_name(self, device, buffer, capacity, out_size);
        if (status == HAL_OK) {
            buffer[0] = '\xFF';
        }
        return status;
    };
}

void dev_name_changes(Plugin& plugin) {
    plugin.device.get_device_name = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        static std::atomic<unsigned> calls{0};
        const hal_status status = base.device.get_device_name(self, device, buffer, capacity, out_size);
        if (status == HAL_OK) {
            buffer[0] = static_cast<char>('a' + calls++ % 26);
        }
        return status;
    };
}

void dev_size_without_end(Plugin& plugin) {
    plugin.device.get_device_type = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_type(self, device, buffer, capacity, out_size);
        if (out_size != nullptr && (status == HAL_OK || status == HAL_ERROR_BUFFER_TOO_SMALL)) {
            --*out_size;
        }
        return status;
    };
}

void dev_name_overruns(Plugin& plugin) {
    plugin.device.get_device_name = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_name(self, device, buffer, capacity, out_size);
        if (status == HAL_ERROR_BUFFER_TOO_SMALL && buffer != nullptr) {
            buffer[capacity] = '\0';
        }
        return status;
    };
}

void dev_name_truncates(Plugin& plugin) {
    plugin.device.get_device_type = [](hal_instance* self, hal_dev device, char* buffer, uint64_t capacity,
                                       uint64_t* out_size) {
        const hal_status status = base.device.get_device_type(self, device, buffer, capacity, out_size);
        if (status == HAL_ERROR_BUFFER_TOO_SMALL && buffer != nullptr && capacity > 0) {
            buffer[0] = '\0';
            return HAL_OK;
        }
        return status;
    };
}

// ---- Structs ----

void dev_version_zero(Plugin& plugin) {
    plugin.device.get_driver_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        const hal_status status = base.device.get_driver_version(self, device, out);
        if (status == HAL_OK && out->header.size == sizeof *out) {
            out->major = out->minor = out->patch = 0;
        }
        return status;
    };
}

// Believes that every caller was built with today's struct.
void dev_struct_size_ignored(Plugin& plugin) {
    plugin.device.get_driver_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        const hal_status status = base.device.get_driver_version(self, device, out);
        if (status == HAL_OK) {
            out->text[sizeof out->text - 1] = '\0';
        }
        return status;
    };
    plugin.device.get_compute_capability = [](hal_instance* self, hal_dev device, hal_compute_capability* out) {
        const hal_status status = base.device.get_compute_capability(self, device, out);
        if (status == HAL_OK) {
            out->arch[sizeof out->arch - 1] = '\0';
        }
        return status;
    };
}

void dev_chain_not_read(Plugin& plugin) {
    plugin.device.get_runtime_version = [](hal_instance* self, hal_dev device, hal_version* out) {
        hal_header* next = nullptr;
        if (out != nullptr) {
            std::swap(next, out->header.next);
        }
        const hal_status status = base.device.get_runtime_version(self, device, out);
        if (out != nullptr) {
            out->header.next = next;
        }
        return status;
    };
}

void dev_same_uuid(Plugin& plugin) {
    plugin.device_ext.get_device_properties = [](hal_instance* self, hal_dev device, hal_device_properties* out) {
        const hal_status status = base.device_ext.get_device_properties(self, device, out);
        if (status == HAL_OK && out->header.size == sizeof *out) {
            std::memset(out->uuid, 7, sizeof out->uuid);
        }
        return status;
    };
}

void dev_clock_stands(Plugin& plugin) {
    plugin.device_ext.device_time = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.device_ext.device_time(self, device, out);
        if (status == HAL_OK) {
            *out = 1'000'000;
        }
        return status;
    };
}

// ---- Refusals ----

void dev_bad_index_accepted(Plugin& plugin) {
    plugin.device.get_compute_capability = [](hal_instance* self, hal_dev device, hal_compute_capability* out) {
        const bool known = device >= 0 && device < device_count(self);
        return base.device.get_compute_capability(self, known ? device : 0, out);
    };
}

void dev_wrong_status(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        return status == HAL_OK ? status : refuse(self, HAL_ERROR_INVALID_ARGUMENT, "no such device");
    };
}

void dev_no_text(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const bool known = device >= 0 && device < device_count(self);
        return known ? base.device.set_device(self, device) : HAL_ERROR_INVALID_DEVICE;
    };
}

void dev_text_of_other_status(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status != HAL_OK) {
            (void)refuse(self, HAL_ERROR_DRIVER, "error 0x35");
        }
        return status;
    };
}

void dev_text_not_utf8(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        return status == HAL_OK ? status : refuse(self, status, "\xC4\xE3\xBA\xC3");
    };
}

}  // namespace hal::mutants

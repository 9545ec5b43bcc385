#include "fake_loader.hpp"

#include <algorithm>
#include <cstring>

namespace {
Fake* current = nullptr;

hal_status record(const char* name, uint64_t argument = 0) {
    auto& fake = Fake::get();
    fake.calls.push_back(name + (argument == 0 ? std::string() : " " + std::to_string(argument)));
    if (fake.next < HAL_OK) {
        fake.set_error(fake.next, std::string(name) + " failed", 5);
    }
    return fake.next;
}
template <class T>
T* handle(uintptr_t value) {
    return reinterpret_cast<T*>(value);
}
}  // namespace

Fake& Fake::get() {
    return *current;
}

void Fake::set_error(hal_status status, std::string text, int64_t vendor_code) {
    error = status;
    error_text = std::move(text);
    error_vendor_code = vendor_code;
}

Fake::Fake() {
    current = this;
    head.size = sizeof head;
    head.instance = handle<hal_instance>(0x1500);
    head.device = &device_;
    head.memory = &memory_;
    head.memory_ext = &memory_ext_;
    head.stream = &stream_;
    head.event = &event_;
    head.event_ext = &event_ext_;

    device_.get_device_count = [](hal_instance* self, int32_t* out_count) {
        *out_count = self == Fake::get().head.instance ? 3 : -1;
        return record("get_device_count");
    };
    device_.initialize = [](hal_instance*) { return record("initialize"); };
    device_.synchronize_device = [](hal_instance*, hal_dev, uint64_t timeout_ns) {
        return record("synchronize_device", timeout_ns);
    };
    device_.get_device_name = [](hal_instance*, hal_dev, char* buffer, uint64_t capacity_bytes,
                                 uint64_t* out_size_bytes) {
        const std::string& name = Fake::get().device_name;
        *out_size_bytes = name.size() + 1;
        if (capacity_bytes < *out_size_bytes) {
            return HAL_ERROR_BUFFER_TOO_SMALL;
        }
        std::memcpy(buffer, name.c_str(), *out_size_bytes);
        return record("get_device_name");
    };
    device_.get_compute_capability = [](hal_instance*, hal_dev, hal_compute_capability* out) {
        if (out->header.size != sizeof *out) {
            return HAL_ERROR_INVALID_ARGUMENT;
        }
        std::strcpy(out->arch, "fake-v1");
        return HAL_OK;
    };

    memory_.device_memory_allocate = [](hal_instance*, hal_dev, uint64_t size_bytes, hal_dptr* out_ptr) {
        *out_ptr = 0x10000;
        return record("device_memory_allocate", size_bytes);
    };
    memory_.device_memory_deallocate = [](hal_instance*, hal_dev, hal_dptr, uint64_t size_bytes) {
        return record("device_memory_deallocate", size_bytes);
    };
    memory_.host_memory_allocate = [](hal_instance*, hal_dev, uint64_t size_bytes, void** out_ptr) {
        *out_ptr = handle<void>(0x20000);
        return record("host_memory_allocate", size_bytes);
    };
    memory_.host_memory_deallocate = [](hal_instance*, hal_dev, void*, uint64_t size_bytes) {
        return record("host_memory_deallocate", size_bytes);
    };
    memory_.memory_copy_h2d = [](hal_instance*, hal_dev, hal_dptr dst, const void*, uint64_t) {
        return record("memory_copy_h2d", dst);
    };
    memory_.memory_copy_d2h = [](hal_instance*, hal_dev, void*, hal_dptr src, uint64_t) {
        return record("memory_copy_d2h", src);
    };
    memory_.async_memory_copy_h2d = [](hal_instance*, hal_dev, hal_stream, hal_dptr dst, const void*, uint64_t) {
        return record("async_memory_copy_h2d", dst);
    };
    memory_.async_memory_copy_d2h = [](hal_instance*, hal_dev, hal_stream, void*, hal_dptr src, uint64_t) {
        return record("async_memory_copy_d2h", src);
    };
    memory_ext_.async_memory_allocate = [](hal_instance*, hal_dev, hal_stream, uint64_t size_bytes, hal_dptr* out_ptr) {
        *out_ptr = 0x30000;
        return record("async_memory_allocate", size_bytes);
    };
    memory_ext_.async_memory_deallocate = [](hal_instance*, hal_dev, hal_stream, hal_dptr ptr) {
        return record("async_memory_deallocate", ptr);
    };

    stream_.create_stream = [](hal_instance*, hal_dev, const hal_stream_desc* desc, hal_stream* out_stream) {
        *out_stream = handle<hal_stream_object>(0x57);
        return record("create_stream", static_cast<uint64_t>(desc->priority));
    };
    stream_.destroy_stream = [](hal_instance*, hal_dev, hal_stream) { return record("destroy_stream"); };
    stream_.query_stream = [](hal_instance*, hal_dev, hal_stream, hal_stream_info*) { return record("query_stream"); };
    stream_.stream_wait_event = [](hal_instance*, hal_dev, hal_stream, hal_event) {
        return record("stream_wait_event");
    };
    // Runs it at once: order is the back end's business, exactly-once is the wrapper's.
    stream_.stream_add_callback = [](hal_instance*, hal_dev device, hal_stream stream, hal_stream_callback callback,
                                     void* user_data) {
        const hal_status status = record("stream_add_callback");
        if (status == HAL_OK) {
            callback(user_data, device, stream, HAL_ERROR_KERNEL_FAULT);
        }
        return status;
    };

    event_.create_event = [](hal_instance*, hal_dev, const hal_event_desc* desc, hal_event* out_event) {
        *out_event = handle<hal_event_object>(0xe0);
        return record("create_event", desc->flags);
    };
    event_.destroy_event = [](hal_instance*, hal_dev, hal_event) { return record("destroy_event"); };
    event_.record_event = [](hal_instance*, hal_dev, hal_stream stream, hal_event) {
        return record("record_event", reinterpret_cast<uintptr_t>(stream));
    };
    event_.query_event = [](hal_instance*, hal_dev, hal_event) { return record("query_event"); };
    event_ext_.event_elapsed = [](hal_instance*, hal_event, hal_event, int64_t* out_elapsed_ns) {
        *out_elapsed_ns = 1500;
        return record("event_elapsed");
    };
}

// ---- The loader's exports that the wrapper calls ----
extern "C" {
hal_status hal_last_error_info(hal_error_info* out_info) {
    auto& fake = Fake::get();
    out_info->status = fake.error;
    out_info->vendor_code = fake.error_vendor_code;
    out_info->backend = "fake";
    out_info->text = fake.error_text.c_str();
    return HAL_OK;
}
const char* hal_status_name(hal_status) {
    return "NAME";
}
const char* hal_status_text(hal_status status) {
    return status == HAL_OK ? "success" : "general text";
}

hal_status hal_loader_open(const hal_loader_desc*, hal_loader** out_loader) {
    *out_loader = handle<hal_loader>(0x10ad);
    return record("hal_loader_open");
}
hal_status hal_loader_close(hal_loader* loader) {
    return loader == nullptr ? HAL_OK : record("hal_loader_close");
}
hal_status hal_loader_rescan(hal_loader*) {
    return record("hal_loader_rescan");
}
hal_status hal_backend_open(hal_loader*, const char* id, const hal_backend** out_backend) {
    *out_backend = &Fake::get().head;
    return record(id);
}
hal_status hal_loader_devices(hal_loader*, hal_device_ref* devices, uint64_t capacity, uint64_t* out_count) {
    auto& fake = Fake::get();
    *out_count = fake.devices.size();
    std::copy_n(fake.devices.begin(), std::min<size_t>(capacity, fake.devices.size()), devices);
    return fake.devices_status != HAL_OK ? fake.devices_status
                                         : (capacity < fake.devices.size() ? HAL_INCOMPLETE : HAL_OK);
}
hal_status hal_loader_report_count(hal_loader*, uint64_t* out_count) {
    *out_count = 2;
    return HAL_OK;
}
hal_status hal_loader_report(hal_loader*, uint64_t index, hal_backend_report* out_report) {
    out_report->rank = static_cast<int32_t>(index);
    return out_report->header.size == sizeof *out_report ? HAL_OK : HAL_ERROR_INVALID_ARGUMENT;
}
hal_status hal_entry_support(const hal_backend*, const char* entry, uint32_t* out_support) {
    *out_support = HAL_SUPPORT_EMULATED;
    return std::strcmp(entry, "memory_copy_p2p") == 0 ? HAL_OK : HAL_ERROR_NOT_FOUND;
}
hal_status hal_kernel_find(const hal_backend*, const hal_kernel_key* key, const hal_kernel* after,
                           const hal_kernel** out_kernel) {
    auto& fake = Fake::get();
    fake.key = *key;
    fake.signature.assign(key->signature, key->signature + key->signature_count);
    fake.arch = key->arch == nullptr ? "" : key->arch;
    auto next = fake.kernels.begin();
    if (after != nullptr) {
        next = std::find(fake.kernels.begin(), fake.kernels.end(), after) + 1;
    }
    if (next == fake.kernels.end()) {
        fake.set_error(HAL_ERROR_NOT_FOUND, "near misses");
        return HAL_ERROR_NOT_FOUND;
    }
    *out_kernel = *next;
    return HAL_OK;
}
}

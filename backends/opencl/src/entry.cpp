// The exported symbol, and what it describes.
#include "device.hpp"
#include "event.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {
namespace {

hal_status create(const hal_host* host, hal_instance** out_instance) {
    if (host == nullptr) {
        return HAL_ERROR_INVALID_ARGUMENT;
    }
    return sdk::guard(host, [&] {
        hal_instance*& out = sdk::require(out_instance, "out_instance");
        out = reinterpret_cast<hal_instance*>(new Instance(host));
        return HAL_OK;
    });
}

void destroy(hal_instance* self) {
    auto* const instance = reinterpret_cast<Instance*>(self);
    if (instance == nullptr || instance->life().forked()) {
        return;  // the threads that would have to end are in the parent
    }
    if (instance->in_callback()) {
        const hal_host* host = instance->host();
        host->log(host, HAL_LOG_ERROR,
                  "opencl: destroy was called from a callback, where it could only wait for itself; ignored");
        return;
    }
    delete instance;
}

const hal_table_header* get_table(hal_instance*, uint32_t id_major) {
    for (const hal_table_header* header :
         {&device_table.header, &memory_table.header, &stream_table.header, &event_table.header,
          &device_ext_table.header, &memory_ext_table.header, &stream_ext_table.header, &event_ext_table.header,
          &kernel_table.header, &xccl_table.header, &xccl_ext_table.header}) {
        if (header->id_major == id_major) {
            return header;
        }
    }
    return nullptr;
}

constexpr hal_backend_descriptor descriptor = {
    .size = sizeof(hal_backend_descriptor),
    .abi_version = HAL_ABI_VERSION,
    .flags = 0,
    .name = "opencl",
    .vendor = "HAL",
    .version = HAL_OPENCL_VERSION,
    .build = "",
    .create = create,
    .destroy = destroy,
    .get_table = get_table,
};

}  // namespace
}  // namespace hal::opencl

const hal_backend_descriptor* hal_backend_entry_v1(const hal_host*) {
    return &hal::opencl::descriptor;
}

// A back end that does nothing, so that what is left of a call is the way to it. It also brings 3,000 kernels for the
// look-up.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hal/sdk.hpp"

// Exported besides the entry: the very function that the table holds, for callers that get it from dlsym.
extern "C" HAL_PLUGIN_EXPORT hal_status hal_bench_get_device(hal_instance* self, hal_dev* out_device);

hal_status hal_bench_get_device(hal_instance*, hal_dev* out_device) {
    *out_device = 0;
    return HAL_OK;
}

namespace {

constexpr const char* id = "bench.null";
constexpr uint32_t op_count = 250;
constexpr std::array<hal_dtype, 12> dtypes{HAL_I8,  HAL_I16, HAL_I32,  HAL_I64, HAL_U8,   HAL_F16,
                                           HAL_F32, HAL_F64, HAL_BF16, HAL_C64, HAL_C128, HAL_BOOL};

hal_status run_nothing(const hal_kernel_call*) {
    return HAL_OK;
}

struct Instance {
    std::vector<std::string> names;
    std::vector<hal_kernel> kernels;
    std::vector<const hal_kernel*> list;

    Instance() {
        names.reserve(op_count);
        kernels.reserve(op_count * dtypes.size());
        for (uint32_t op = 0; op < op_count; ++op) {
            names.push_back("BenchOperator" + std::to_string(op));
            for (const hal_dtype dtype : dtypes) {
                hal_kernel kernel{};
                kernel.size = sizeof kernel;
                kernel.line = __LINE__;
                kernel.op = names.back().c_str();
                kernel.backend = id;
                kernel.layout = HAL_LAYOUT_ANY;
                kernel.dtype = dtype;
                kernel.run = run_nothing;
                kernel.file = __FILE__;
                kernels.push_back(kernel);
            }
        }
        for (const auto& kernel : kernels) {
            list.push_back(&kernel);
        }
    }
};

hal_status set_device(hal_instance*, hal_dev device) {
    return device == 0 ? HAL_OK : HAL_ERROR_INVALID_DEVICE;
}

hal_status synchronize_device(hal_instance*, hal_dev, uint64_t) {
    return HAL_OK;
}

hal_status get_device_count(hal_instance*, int32_t* out_count) {
    *out_count = 1;
    return HAL_OK;
}

hal_status initialize(hal_instance*) {
    return HAL_OK;
}

hal_status register_kernel(hal_instance* self, const hal_kernel* const** out_kernels, uint64_t* out_count) {
    const auto& list = reinterpret_cast<const Instance*>(self)->list;
    *out_kernels = list.data();
    *out_count = list.size();
    return HAL_OK;
}

// No operation is ever pending, so every event is complete; its handle only has to differ from NULL.
hal_status create_event(hal_instance* self, hal_dev, const hal_event_desc*, hal_event* out_event) {
    *out_event = reinterpret_cast<hal_event>(self);
    return HAL_OK;
}

hal_status destroy_event(hal_instance*, hal_dev, hal_event) {
    return HAL_OK;
}

hal_status record_event(hal_instance*, hal_dev, hal_stream, hal_event) {
    return HAL_OK;
}

hal_status synchronize_event(hal_instance*, hal_dev, hal_event, uint64_t) {
    return HAL_OK;
}

constexpr hal_device_table device_table{.header = hal::sdk::header<hal_device_table>(HAL_TABLE_device),
                                        .set_device = set_device,
                                        .get_device = hal_bench_get_device,
                                        .synchronize_device = synchronize_device,
                                        .get_device_count = get_device_count,
                                        .initialize = initialize,
                                        .finalize = initialize};
constexpr hal_memory_table memory_table{.header = hal::sdk::header<hal_memory_table>(HAL_TABLE_memory)};
constexpr hal_stream_table stream_table{.header = hal::sdk::header<hal_stream_table>(HAL_TABLE_stream)};
constexpr hal_event_table event_table{.header = hal::sdk::header<hal_event_table>(HAL_TABLE_event),
                                      .create_event = create_event,
                                      .destroy_event = destroy_event,
                                      .record_event = record_event,
                                      .synchronize_event = synchronize_event};
constexpr hal_kernel_table kernel_table{.header = hal::sdk::header<hal_kernel_table>(HAL_TABLE_kernel),
                                        .register_kernel = register_kernel};

hal_status create(const hal_host* host, hal_instance** out_instance) {
    return hal::sdk::guard(host, [&] {
        *out_instance = reinterpret_cast<hal_instance*>(std::make_unique<Instance>().release());
        return HAL_OK;
    });
}

void destroy(hal_instance* instance) {
    delete reinterpret_cast<Instance*>(instance);
}

const hal_table_header* get_table(hal_instance*, uint32_t id_major) {
    switch (id_major) {
        case HAL_TABLE_device:
            return &device_table.header;
        case HAL_TABLE_memory:
            return &memory_table.header;
        case HAL_TABLE_stream:
            return &stream_table.header;
        case HAL_TABLE_event:
            return &event_table.header;
        case HAL_TABLE_kernel:
            return &kernel_table.header;
        default:
            return nullptr;
    }
}

constexpr hal_backend_descriptor descriptor{.size = sizeof(hal_backend_descriptor),
                                            .abi_version = HAL_ABI_VERSION,
                                            .flags = HAL_BACKEND_FORK_SAFE,
                                            .name = id,
                                            .vendor = "hal",
                                            .version = "1.0",
                                            .build = "",
                                            .create = create,
                                            .destroy = destroy,
                                            .get_table = get_table};

}  // namespace

const hal_backend_descriptor* hal_backend_entry_v1(const hal_host*) {
    return &descriptor;
}

// The fields of the public structs besides the tables, for the ABI lock. C++20 cannot list them by itself; the compiler
// checks that each list covers its struct without a gap, and a test that no public struct is missing.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "hal/hal.h"

namespace hal::tool {

// `open` structs tell their size and may grow at their end; `closed` ones are copied or stand in arrays and may not.
enum class Growth : uint8_t { open, closed };

struct Field {
    std::string_view name;
    size_t offset;
    size_t size_bytes;
};

struct StructInfo {
    std::string_view name;
    Growth growth;
    size_t size_bytes;
    size_t count;
    std::array<Field, 24> fields;

    constexpr StructInfo(std::string_view name_, Growth growth_, size_t size_bytes_, std::initializer_list<Field> list)
        : name(name_), growth(growth_), size_bytes(size_bytes_), count(list.size()), fields{} {
        std::copy(list.begin(), list.end(), fields.begin());
    }

    [[nodiscard]] constexpr bool covered() const {
        size_t end = 0;
        for (size_t index = 0; index < count; ++index) {
            if (fields[index].offset != end) {
                return false;
            }
            end += fields[index].size_bytes;
        }
        return end == size_bytes;
    }
};

// HAL_LIST names the struct S for the HAL_FIELD of its list.
#define HAL_LIST(name, growth, ...)                                         \
    [] {                                                                    \
        using S = name;                                                     \
        return StructInfo(#name, Growth::growth, sizeof(S), {__VA_ARGS__}); \
    }()
#define HAL_FIELD(field)                             \
    Field {                                          \
#field, offsetof(S, field), sizeof(S::field) \
    }

// clang-format off
// Its tables come from the one list.
constexpr StructInfo backend_fields() {
    using S = hal_backend;
    return {"hal_backend", Growth::open, sizeof(S), {
        HAL_FIELD(size), HAL_FIELD(reserved), HAL_FIELD(instance),
#define HAL_TABLE(table, id, clause, effect) HAL_FIELD(table),
#include "hal/tables/all.def"
    }};
}

inline constexpr auto structs = std::to_array<StructInfo>({
    HAL_LIST(hal_header, closed, HAL_FIELD(size), HAL_FIELD(kind), HAL_FIELD(next)),
    HAL_LIST(hal_version, open, HAL_FIELD(header), HAL_FIELD(major), HAL_FIELD(minor), HAL_FIELD(patch), HAL_FIELD(reserved),
             HAL_FIELD(text)),
    HAL_LIST(hal_tensor, open, HAL_FIELD(data), HAL_FIELD(device_type), HAL_FIELD(device_id), HAL_FIELD(ndim),
             HAL_FIELD(dtype), HAL_FIELD(shape), HAL_FIELD(strides), HAL_FIELD(byte_offset), HAL_FIELD(struct_size),
             HAL_FIELD(layout), HAL_FIELD(flags), HAL_FIELD(reserved), HAL_FIELD(storage_bytes), HAL_FIELD(next)),
    HAL_LIST(hal_attr, closed, HAL_FIELD(name), HAL_FIELD(type), HAL_FIELD(reserved), HAL_FIELD(count), HAL_FIELD(value)),
    HAL_LIST(hal_compute_capability, open, HAL_FIELD(header), HAL_FIELD(major), HAL_FIELD(minor), HAL_FIELD(compute_units),
             HAL_FIELD(vector_bits), HAL_FIELD(arch)),
    HAL_LIST(hal_device_properties, open, HAL_FIELD(header), HAL_FIELD(kind), HAL_FIELD(flags), HAL_FIELD(numa_node),
             HAL_FIELD(alignment_bytes), HAL_FIELD(total_memory_bytes), HAL_FIELD(uuid), HAL_FIELD(pci), HAL_FIELD(vendor)),
    HAL_LIST(hal_memory_stats, open, HAL_FIELD(header), HAL_FIELD(total_bytes), HAL_FIELD(free_bytes), HAL_FIELD(used_bytes),
             HAL_FIELD(peak_bytes), HAL_FIELD(cached_bytes), HAL_FIELD(live_allocations)),
    HAL_LIST(hal_memory_attributes, open, HAL_FIELD(header), HAL_FIELD(memory_kind), HAL_FIELD(flags), HAL_FIELD(device),
             HAL_FIELD(reserved), HAL_FIELD(base), HAL_FIELD(size_bytes)),
    HAL_LIST(hal_ipc_handle, closed, HAL_FIELD(bytes)),
    HAL_LIST(hal_copy_2d, open, HAL_FIELD(header), HAL_FIELD(direction), HAL_FIELD(reserved), HAL_FIELD(dst),
             HAL_FIELD(dst_pitch_bytes), HAL_FIELD(src), HAL_FIELD(src_pitch_bytes), HAL_FIELD(width_bytes),
             HAL_FIELD(height)),
    HAL_LIST(hal_stream_desc, open, HAL_FIELD(header), HAL_FIELD(priority), HAL_FIELD(flags)),
    HAL_LIST(hal_stream_info, open, HAL_FIELD(header), HAL_FIELD(device), HAL_FIELD(priority), HAL_FIELD(flags),
             HAL_FIELD(status), HAL_FIELD(submitted_count), HAL_FIELD(completed_count)),
    HAL_LIST(hal_event_desc, open, HAL_FIELD(header), HAL_FIELD(flags), HAL_FIELD(reserved)),
    HAL_LIST(hal_kernel_call, open, HAL_FIELD(size), HAL_FIELD(device), HAL_FIELD(instance), HAL_FIELD(kernel),
             HAL_FIELD(stream), HAL_FIELD(inputs), HAL_FIELD(outputs), HAL_FIELD(attributes), HAL_FIELD(input_count),
             HAL_FIELD(output_count), HAL_FIELD(attribute_count), HAL_FIELD(reserved), HAL_FIELD(workspace),
             HAL_FIELD(workspace_bytes)),
    HAL_LIST(hal_shape, closed, HAL_FIELD(ndim), HAL_FIELD(dtype), HAL_FIELD(extent)),
    HAL_LIST(hal_kernel, open, HAL_FIELD(size), HAL_FIELD(line), HAL_FIELD(op), HAL_FIELD(backend), HAL_FIELD(layout),
             HAL_FIELD(dtype), HAL_FIELD(run), HAL_FIELD(file), HAL_FIELD(flags), HAL_FIELD(priority), HAL_FIELD(query),
             HAL_FIELD(infer), HAL_FIELD(arch), HAL_FIELD(signature), HAL_FIELD(signature_count), HAL_FIELD(op_version_min),
             HAL_FIELD(op_version_max), HAL_FIELD(reserved), HAL_FIELD(user_data)),
    HAL_LIST(hal_graph_node, closed, HAL_FIELD(name), HAL_FIELD(op), HAL_FIELD(inputs), HAL_FIELD(outputs),
             HAL_FIELD(attributes), HAL_FIELD(input_count), HAL_FIELD(output_count), HAL_FIELD(attribute_count),
             HAL_FIELD(op_version)),
    HAL_LIST(hal_graph_desc, open, HAL_FIELD(header), HAL_FIELD(name), HAL_FIELD(format), HAL_FIELD(node_count),
             HAL_FIELD(nodes), HAL_FIELD(values), HAL_FIELD(inputs), HAL_FIELD(outputs), HAL_FIELD(value_count),
             HAL_FIELD(input_count), HAL_FIELD(output_count), HAL_FIELD(reserved), HAL_FIELD(bytes), HAL_FIELD(size_bytes)),
    HAL_LIST(hal_graph_engine_desc, open, HAL_FIELD(header), HAL_FIELD(options), HAL_FIELD(option_count)),
    HAL_LIST(hal_lower_desc, open, HAL_FIELD(header), HAL_FIELD(target), HAL_FIELD(options), HAL_FIELD(option_count)),
    HAL_LIST(hal_ir_info, open, HAL_FIELD(header), HAL_FIELD(format), HAL_FIELD(bytes), HAL_FIELD(size_bytes)),
    HAL_LIST(hal_table_header, closed, HAL_FIELD(size), HAL_FIELD(id_major)),
    HAL_LIST(hal_host, open, HAL_FIELD(size), HAL_FIELD(abi_version), HAL_FIELD(set_error), HAL_FIELD(log),
             HAL_FIELD(get_option), HAL_FIELD(add_kernels), HAL_FIELD(trace)),
    HAL_LIST(hal_backend_descriptor, open, HAL_FIELD(size), HAL_FIELD(abi_version), HAL_FIELD(flags), HAL_FIELD(name),
             HAL_FIELD(vendor), HAL_FIELD(version), HAL_FIELD(build), HAL_FIELD(create), HAL_FIELD(destroy),
             HAL_FIELD(get_table)),
    backend_fields(),
    HAL_LIST(hal_option, closed, HAL_FIELD(backend), HAL_FIELD(key), HAL_FIELD(value)),
    HAL_LIST(hal_loader_desc, open, HAL_FIELD(header), HAL_FIELD(manifest_paths), HAL_FIELD(manifest_path_count),
             HAL_FIELD(entries), HAL_FIELD(entry_count), HAL_FIELD(options), HAL_FIELD(option_count), HAL_FIELD(log),
             HAL_FIELD(log_user_data), HAL_FIELD(flags), HAL_FIELD(reserved)),
    HAL_LIST(hal_backend_report, open, HAL_FIELD(header), HAL_FIELD(state), HAL_FIELD(status), HAL_FIELD(id),
             HAL_FIELD(name), HAL_FIELD(vendor), HAL_FIELD(version), HAL_FIELD(manifest), HAL_FIELD(library),
             HAL_FIELD(code), HAL_FIELD(cause), HAL_FIELD(next_step), HAL_FIELD(rank), HAL_FIELD(device_count)),
    HAL_LIST(hal_search_place, open, HAL_FIELD(header), HAL_FIELD(path), HAL_FIELD(origin), HAL_FIELD(note),
             HAL_FIELD(rank), HAL_FIELD(used)),
    HAL_LIST(hal_variable, open, HAL_FIELD(header), HAL_FIELD(name), HAL_FIELD(value), HAL_FIELD(note), HAL_FIELD(use),
             HAL_FIELD(reserved)),
    HAL_LIST(hal_device_ref, closed, HAL_FIELD(backend), HAL_FIELD(id), HAL_FIELD(device), HAL_FIELD(reserved)),
    HAL_LIST(hal_kernel_key, open, HAL_FIELD(size), HAL_FIELD(dtype), HAL_FIELD(layout), HAL_FIELD(op_version),
             HAL_FIELD(op), HAL_FIELD(arch), HAL_FIELD(signature), HAL_FIELD(signature_count), HAL_FIELD(reserved)),
    HAL_LIST(hal_error_info, open, HAL_FIELD(header), HAL_FIELD(status), HAL_FIELD(reserved), HAL_FIELD(vendor_code),
             HAL_FIELD(backend), HAL_FIELD(text)),
});
// clang-format on
#undef HAL_LIST
#undef HAL_FIELD

static_assert(std::all_of(structs.begin(), structs.end(), [](const StructInfo& info) { return info.covered(); }),
              "a struct has a field that its list above lacks, or padding");

}  // namespace hal::tool

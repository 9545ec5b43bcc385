// Operators that move elements: Copy, Fill, Cast.
#include <cstring>

#include "common/launch.hpp"
#include "copy.hpp"
#include "hal/register.h"
#include "sources.hpp"

namespace hal::opencl {
namespace {

constexpr Source copy_source{"copy.cl", {cl::prelude, cl::copy, {}}};
constexpr Source fill_source{"fill.cl", {cl::prelude, cl::fill, {}}};
constexpr Source cast_source{"cast.cl", {cl::prelude, cl::cast, {}}};

std::string item_option(int64_t item_bytes) {
    return type_option(HAL_U8) + " -D ITEM_BYTES=" + std::to_string(item_bytes);
}

hal_status copy_elements(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    const auto [input, output] = shared::read_unary(call, HAL_DTYPE_ANY);
    const Walk<2> walked = walk<2>(call, output.shape, {&output, &input});
    const auto& [to, from] = walked.places;
    Device& device = call.device();
    if (walked.steps.count == 0) {
        enqueue_nothing(call);
    } else if (walked.dense) {
        const auto bytes = static_cast<uint64_t>(walked.steps.count * output.item_bytes);
        enqueue(call, [&, &to = to, &from = from](cl_command_queue queue, cl_event* out) {
            return copy(device, queue, to, from, bytes, false, out);
        });
    } else {
        Kernel& kernel = device.programs
                             .find(copy_source, static_cast<uint64_t>(output.item_bytes),
                                   [&item = output.item_bytes] { return item_option(item); })
                             .kernel("strided");
        enqueue(call, [&, &to = to, &from = from](cl_command_queue queue, cl_event* out) {
            return launch(device.api(), queue, kernel, Range::items(walked.steps.count), out, to, from, walked.steps);
        });
    }
    return HAL_OK;
}

// The element's bytes, the lowest first.
uint64_t fill_bits(const Call& call) {
    uint64_t bits = 0;
    shared::dispatch(call.dtype(), [&]<class T>(std::type_identity<T>) {
        const T value = shared::fill_value<T>(call);
        std::memcpy(&bits, &value, sizeof value);
    });
    return bits;
}

hal_status fill_elements(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 0, 1);
    const View output = shared::read_fill(call, call.dtype());
    const uint64_t bits = fill_bits(call);
    const Walk<1> walked = walk<1>(call, output.shape, {&output});
    if (walked.steps.count == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    Device& device = call.device();
    const Program& program = device.programs.find(fill_source, static_cast<uint64_t>(output.item_bytes),
                                                  [&] { return item_option(output.item_bytes); });
    Kernel& kernel = program.kernel(walked.dense ? "dense" : "strided");
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        const Range range = Range::items(walked.steps.count);
        return walked.dense ? launch(device.api(), queue, kernel, range, out, walked.places[0],
                                     walked.packed(static_cast<int64_t>(bits)))
                            : launch(device.api(), queue, kernel, range, out, walked.places[0], bits, walked.steps);
    });
    return HAL_OK;
}

// The name of the type that the value has in OpenCL C.
const char* c_name(hal_dtype dtype) {
    switch (dtype) {
        case HAL_I8:
            return "char";
        case HAL_I16:
            return "short";
        case HAL_I32:
            return "int";
        case HAL_I64:
            return "long";
        case HAL_U8:
        case HAL_BOOL:
            return "uchar";
        case HAL_U16:
            return "ushort";
        case HAL_U32:
            return "uint";
        case HAL_U64:
            return "ulong";
        case HAL_F64:
            return "double";
        default:
            return "float";
    }
}

std::string cast_options(hal_dtype from, hal_dtype to) {
    const auto real = [](hal_dtype type) { return type == HAL_F32 || type == HAL_F64; };
    const auto half = [](hal_dtype type) { return type == HAL_F16 || type == HAL_BF16; };
    std::string options = type_option(from) + " -D TO=" + shared::dtype_text(to) + " -D TO_C=" + c_name(to);
    options += real(from) || half(from) ? " -D FROM_REAL" : "";
    options += real(to) ? " -D TO_REAL" : half(to) ? " -D TO_HALF" : to == HAL_BOOL ? " -D TO_BOOL" : "";
    return options;
}

hal_status cast_elements(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    const auto [input, output] = shared::read_cast(call, call.dtype());
    const hal_dtype to = output.dtype;
    call.require_type(to);
    const Walk<2> walked = walk<2>(call, output.shape, {&output, &input});
    if (walked.steps.count == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    Device& device = call.device();
    Kernel& kernel = device.programs
                         .find(cast_source, static_cast<uint64_t>(call.dtype()) << 32U | to,
                               [&] { return cast_options(call.dtype(), to); })
                         .kernel("strided");
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        return launch(device.api(), queue, kernel, Range::items(walked.steps.count), out, walked.places[0],
                      walked.places[1], walked.steps);
    });
    return HAL_OK;
}

uint64_t can_cast(const Call& call) {
    if (call.raw().output_count == 1) {
        call.require_type(call.output(0).dtype);
    }
    return shared::can_cast(call);
}

REGISTER_KERNEL_WITH("Copy", "opencl", HAL_LAYOUT_ANY, HAL_DTYPE_ANY, sdk::kernel<copy_elements>,
                     .flags = HAL_KERNEL_IN_PLACE | HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC,
                     .infer = infer<shared::same_as_input, 1>);

#define FILL(dtype, T)                                                                        \
    REGISTER_KERNEL_WITH("Fill", "opencl", HAL_LAYOUT_ANY, dtype, sdk::kernel<fill_elements>, \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<no_workspace, 0>);
#define CAST(dtype, T)                                                                                        \
    REGISTER_KERNEL_WITH("Cast", "opencl", HAL_LAYOUT_ANY, dtype, sdk::kernel<cast_elements>,                 \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<can_cast, 1>, \
                         .infer = infer<shared::cast_shape, 1>);
HAL_FOR_TYPES(FILL)
HAL_FOR_TYPES(CAST)

}  // namespace
}  // namespace hal::opencl

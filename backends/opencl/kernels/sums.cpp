// Operators that run along axes: ReduceSum, Softmax.
#include "common/launch.hpp"
#include "hal/register.h"
#include "sources.hpp"

namespace hal::opencl {
namespace {

constexpr Source reduce_sum_source{"reduce_sum.cl", {cl::prelude, cl::reduce_sum, {}}};
constexpr Source softmax_source{"softmax.cl", {cl::prelude, cl::softmax, {}}};

bool is_real(hal_dtype dtype) {
    return dtype == HAL_F32 || dtype == HAL_F64 || dtype == HAL_F16 || dtype == HAL_BF16;
}

// A group shares a sum of this many terms or more; below, a work-item makes each sum.
constexpr int64_t shared_sum_terms = 256;

hal_status reduce_sum(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    const shared::Reduction parts = shared::read_reduce_sum(call, call.dtype());
    const Walk<2> outputs = walk<2>(call, parts.outer.shape, {&parts.output, &parts.outer});
    Walk<1> terms = walk<1>(call, parts.inner.shape, {&parts.inner});
    if (outputs.steps.count == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    terms.steps.offset[0] = 0;  // from the element that the walk of the outputs leads to
    Device& device = call.device();
    const Program& program = device.programs.find(reduce_sum_source, call.dtype(), [&] {
        return type_option(call.dtype()) + (is_real(call.dtype()) ? " -D REAL" : "");
    });
    const Place& to = outputs.places[0];
    const Place& from = terms.steps.count == 0 ? to : outputs.places[1];  // nothing is read then
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        if (terms.steps.count < shared_sum_terms) {
            return launch(device.api(), queue, program.kernel("each"), Range::items(outputs.steps.count), out, to, from,
                          outputs.steps, terms.steps);
        }
        Kernel& kernel = program.kernel("grouped");
        const Range range = Range::groups(kernel, outputs.steps.count, terms.steps.count);
        return launch(device.api(), queue, kernel, range, out, to, from, outputs.steps, terms.steps,
                      Local{range.local[0] * sizeof(uint64_t)});
    });
    return HAL_OK;
}

hal_status softmax(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    const shared::Rows rows = shared::read_softmax(call, call.dtype());
    const Walk<2> walked = walk<2>(call, rows.output.shape, {&rows.output, &rows.input});
    if (walked.steps.count == 0 || rows.extent == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    Device& device = call.device();
    Kernel& kernel =
        device.programs.find(softmax_source, call.dtype(), [&] { return type_option(call.dtype()); }).kernel("grouped");
    const Range range = Range::groups(kernel, walked.steps.count, rows.extent);
    const Local row{range.local[0] * sizeof(double)};  // the largest type of either array
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        return launch(device.api(), queue, kernel, range, out, walked.places[0], walked.places[1], walked.steps,
                      rows.extent, rows.output_stride, rows.input_stride, row, row);
    });
    return HAL_OK;
}

#define REDUCE_SUM(dtype, T)                                                                                      \
    REGISTER_KERNEL_WITH("ReduceSum", "opencl", HAL_LAYOUT_ANY, dtype, sdk::kernel<reduce_sum>,                   \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<no_workspace, 1>, \
                         .infer = infer<shared::reduced, 1>, .op_version_min = 1, .op_version_max = 12);
#define SOFTMAX(dtype, T)                                                                              \
    REGISTER_KERNEL_WITH("Softmax", "opencl", HAL_LAYOUT_ANY, dtype, sdk::kernel<softmax>,             \
                         .flags = HAL_KERNEL_IN_PLACE | HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, \
                         .query = query<no_workspace, 1>, .infer = infer<shared::same_as_input, 1>);
HAL_FOR_FLOATS(REDUCE_SUM)
REDUCE_SUM(HAL_I32, int32_t)
REDUCE_SUM(HAL_I64, int64_t) REDUCE_SUM(HAL_U32, uint32_t) REDUCE_SUM(HAL_U64, uint64_t) HAL_FOR_FLOATS(SOFTMAX)

}  // namespace
}  // namespace hal::opencl

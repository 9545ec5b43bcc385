// Operators that compute each element from the elements at the same place: Add, Sub, Mul, Max, Relu, Exp. What they
// compute is in the .cl file of each, what they take in shared/kernels/operators.hpp.
#include <tuple>

#include "common/launch.hpp"
#include "hal/register.h"
#include "sources.hpp"

namespace hal::opencl {
namespace {

constexpr Source add_source{"add.cl", {cl::prelude, cl::add, cl::binary}};
constexpr Source sub_source{"sub.cl", {cl::prelude, cl::sub, cl::binary}};
constexpr Source mul_source{"mul.cl", {cl::prelude, cl::mul, cl::binary}};
constexpr Source max_source{"max.cl", {cl::prelude, cl::max, cl::binary}};
constexpr Source relu_source{"relu.cl", {cl::prelude, cl::relu, cl::unary}};
constexpr Source exp_source{"exp.cl", {cl::prelude, cl::exp, cl::unary}};

template <size_t N>
hal_status run(const Call& call, const Source& source, const Walk<N>& walk) {
    if (walk.steps.count == 0) {
        enqueue_nothing(call);
        return HAL_OK;
    }
    const Program& program =
        call.device().programs.find(source, call.dtype(), [&] { return type_option(call.dtype()); });
    Kernel& kernel = program.kernel(walk.dense ? "dense" : "strided");
    enqueue(call, [&](cl_command_queue queue, cl_event* out) {
        const Range range = Range::items(walk.steps.count);
        const auto launch_with = [&](const auto&... places) {
            return walk.dense ? launch(call.device().api(), queue, kernel, range, out, places..., walk.packed())
                              : launch(call.device().api(), queue, kernel, range, out, places..., walk.steps);
        };
        return std::apply(launch_with, walk.places);
    });
    return HAL_OK;
}

template <const Source& source>
hal_status unary(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    const auto [input, output] = shared::read_unary(call, call.dtype());
    return run<2>(call, source, walk<2>(call, output.shape, {&output, &input}));
}

template <const Source& source>
hal_status binary(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 2, 1);
    const auto [a, b, output] = shared::read_binary(call, call.dtype());
    return run<3>(call, source, walk<3>(call, output.shape, {&output, &a, &b}));
}

uint64_t two_inputs(const Call& call) {
    return shared::two_inputs(call);
}

constexpr uint32_t flags = HAL_KERNEL_IN_PLACE | HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC;

#define UNARY(op, source, dtype)                                                                            \
    REGISTER_KERNEL_WITH(op, "opencl", HAL_LAYOUT_ANY, dtype, (sdk::kernel<unary<source>>), .flags = flags, \
                         .query = query<no_workspace, 1>, .infer = infer<shared::same_as_input, 1>);
#define BINARY(op, source, dtype, rule, inputs)                                                              \
    REGISTER_KERNEL_WITH(op, "opencl", HAL_LAYOUT_ANY, dtype, (sdk::kernel<binary<source>>), .flags = flags, \
                         .query = query<rule, inputs>, .infer = infer<shared::broadcast_of_two, 2>);
#define ADD(dtype, T) BINARY("Add", add_source, dtype, no_workspace, 2)
#define SUB(dtype, T) BINARY("Sub", sub_source, dtype, no_workspace, 2)
#define MUL(dtype, T) BINARY("Mul", mul_source, dtype, no_workspace, 2)
#define MAX(dtype, T) BINARY("Max", max_source, dtype, two_inputs, shared::any_inputs)
#define RELU(dtype, T) UNARY("Relu", relu_source, dtype)
#define EXP(dtype, T) UNARY("Exp", exp_source, dtype)
HAL_FOR_NUMBERS(ADD)
HAL_FOR_NUMBERS(SUB)
HAL_FOR_NUMBERS(MUL)
HAL_FOR_NUMBERS(MAX)
HAL_FOR_FLOATS(RELU)
RELU(HAL_I8, int8_t) RELU(HAL_I16, int16_t) RELU(HAL_I32, int32_t) RELU(HAL_I64, int64_t) HAL_FOR_FLOATS(EXP)

}  // namespace
}  // namespace hal::opencl

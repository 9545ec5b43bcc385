// Softmax, as ONNX Softmax (opset 13): attribute `axis`, default -1. exp(x - max) / sum along the axis; halves compute
// in float, the sum is a double. A row that holds NaN or +infinity becomes NaN.
#include <memory>

#include "common/elementwise.hpp"
#include "common/exp.hpp"

namespace hal::cpu {
namespace {

// Eight partial results each, so that one step need not wait for the one before.
template <class C>
C largest(const C* row, int64_t count) noexcept {
    std::array<C, 8> best;
    best.fill(row[0]);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int64_t lane = 0; lane < 8; ++lane) {
            best[lane] = row[i + lane] > best[lane] ? row[i + lane] : best[lane];
        }
    }
    C all = row[0];
    for (const C one : best) {
        all = one > all ? one : all;
    }
    for (; i < count; ++i) {
        all = row[i] > all ? row[i] : all;
    }
    return all;
}

template <class C>
double sum(const C* row, int64_t count) noexcept {
    std::array<double, 8> parts{};
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int64_t lane = 0; lane < 8; ++lane) {
            parts[lane] += static_cast<double>(row[i + lane]);
        }
    }
    for (; i < count; ++i) {
        parts[0] += static_cast<double>(row[i]);
    }
    return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}

// `row` is scratch of `count` elements; the whole input row is read before the output is written, so the two may be
// one.
template <class T>
void softmax_row(std::byte* output, int64_t to, const std::byte* input, int64_t from, int64_t count,
                 Compute<T>* row) noexcept {
    using C = Compute<T>;
    for (int64_t i = 0; i < count; ++i) {
        row[i] = load(*reinterpret_cast<const T*>(input + i * from));
    }
    const C top = largest(row, count);
    for (int64_t i = 0; i < count; ++i) {
        row[i] = exponential(row[i] - top);
    }
    const C scale = static_cast<C>(1.0 / sum(row, count));
    for (int64_t i = 0; i < count; ++i) {
        *reinterpret_cast<T*>(output + i * to) = store<T>(row[i] * scale);
    }
}

// One axis of a view taken out: its extent becomes 1.
View without(View view, int32_t axis) {
    view.shape.extent[axis] = 1;
    return view;
}

template <class T>
hal_status softmax(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    call.attributes({"axis"});
    const View input = call.input(0);
    const View output = call.output(0);
    call.expect_dtype(input, "input 0", dtype_of<T>);
    call.expect_dtype(output, "output 0", dtype_of<T>);
    call.expect_shape(output, "output 0", input.shape);
    call.expect_apart(output, input, "input 0", true);
    if (input.shape.rank == 0) {
        call.refuse("input 0", "it is a scalar, which has no axis");
    }
    const int32_t axis = call.axis(call.integer("axis").value_or(-1), input.shape.rank);
    const int64_t extent = input.shape.extent[axis];
    if (input.shape.count() == 0) {
        return HAL_OK;
    }
    const View rows_in = without(input, axis);
    const View rows_out = without(output, axis);
    const auto plan = make_plan<2>(rows_out.shape, {&rows_out, &rows_in});
    enqueue(instance, raw.device, raw.stream, [plan, extent, to = output.stride[axis], from = input.stride[axis]] {
        const auto scratch = std::make_unique_for_overwrite<Compute<T>[]>(static_cast<size_t>(extent));
        for_each_row(plan, [&](const auto& at, int64_t count, const auto& stride) {
            for (int64_t i = 0; i < count; ++i) {
                softmax_row<T>(at[0] + i * stride[0], to, at[1] + i * stride[1], from, extent, scratch.get());
            }
        });
        return HAL_OK;
    });
    return HAL_OK;
}

#define REGISTER(dtype, T)                                                                       \
    REGISTER_KERNEL_WITH("Softmax", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<softmax<T>>), \
                         .flags = elementwise_flags, .infer = infer<same_as_input>);
HAL_CPU_FOR_FLOATS(REGISTER)

}  // namespace
}  // namespace hal::cpu

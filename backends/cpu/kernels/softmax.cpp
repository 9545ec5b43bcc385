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

template <class T>
hal_status softmax(Instance& instance, const hal_kernel_call& raw) {
    const auto rows = shared::read_softmax(Call(instance, raw, Purpose::run, 1, 1), dtype_of<T>);
    if (rows.output.shape.count() == 0 || rows.extent == 0) {
        return HAL_OK;
    }
    const auto plan = make_plan<2>(rows.output.shape, {&rows.output, &rows.input});
    enqueue(instance, raw.device, raw.stream,
            [plan, extent = rows.extent, to = rows.output_stride, from = rows.input_stride] {
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
                         .flags = elementwise_flags, .infer = infer<shared::same_as_input, 1>);
HAL_FOR_FLOATS(REGISTER)

}  // namespace
}  // namespace hal::cpu

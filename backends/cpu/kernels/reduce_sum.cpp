// ReduceSum, as ONNX ReduceSum up to opset 12: attributes `axes` (default all) and `keepdims` (default 1). Floats are
// summed in double and rounded once; integers wrap around.
#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

template <class T>
using Sum = std::conditional_t<std::integral<T>, uint64_t, double>;

template <class T>
Sum<T> term(const std::byte* at) noexcept {
    return static_cast<Sum<T>>(load(*reinterpret_cast<const T*>(at)));
}

// Sums the reduced axes at `base` for `Width` outputs that lie `step` bytes apart in the input. One output has eight
// partial sums, so that an addition need not wait for the one before.
template <class T>
Sum<T> sum_one(Plan<1> reduced, std::byte* base) {
    std::array<Sum<T>, 8> parts{};
    reduced.data[0] = base;
    for_each_row(reduced, [&parts](const auto& at, int64_t count, const auto& stride) {
        int64_t i = 0;
        for (; i + 8 <= count; i += 8) {
            for (int64_t lane = 0; lane < 8; ++lane) {
                parts[lane] += term<T>(at[0] + (i + lane) * stride[0]);
            }
        }
        for (; i < count; ++i) {
            parts[0] += term<T>(at[0] + i * stride[0]);
        }
    });
    return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}

constexpr int64_t columns = 64;
template <class T>
void sum_columns(Plan<1> reduced, std::byte* base, int64_t width, int64_t step, std::array<Sum<T>, columns>& sums) {
    sums.fill(0);
    reduced.data[0] = base;
    for_each_row(reduced, [&](const auto& at, int64_t count, const auto& stride) {
        for (int64_t i = 0; i < count; ++i) {
            for (int64_t j = 0; j < width; ++j) {
                sums[j] += term<T>(at[0] + i * stride[0] + j * step);
            }
        }
    });
}

template <class T>
void reduce(const Plan<2>& kept, const Plan<1>& reduced) {
    const auto inner = static_cast<size_t>(std::max(reduced.rank - 1, 0));
    for_each_row(kept, [&](const auto& at, int64_t count, const auto& stride) {
        // Whichever axis of the input has its elements closer together is the inner loop.
        const bool by_column =
            reduced.rank > 0 && count > 1 && std::abs(stride[1]) < std::abs(reduced.stride[inner][0]);
        std::array<Sum<T>, columns> sums;
        for (int64_t first = 0; first < count; first += by_column ? columns : 1) {
            const int64_t width = by_column ? std::min(columns, count - first) : 1;
            std::byte* base = at[1] + first * stride[1];
            if (by_column) {
                sum_columns<T>(reduced, base, width, stride[1], sums);
            } else {
                sums[0] = sum_one<T>(reduced, base);
            }
            for (int64_t j = 0; j < width; ++j) {
                detail::element<T>(at[0], first + j, stride[0]) = convert<T>(sums[j]);
            }
        }
    });
}

template <class T>
hal_status reduce_sum(Instance& instance, const hal_kernel_call& raw) {
    const auto [output, outer, inner] = shared::read_reduce_sum(Call(instance, raw, Purpose::run, 1, 1), dtype_of<T>);
    enqueue(instance, raw.device, raw.stream,
            [kept = make_plan<2>(outer.shape, {&output, &outer}), reduced = make_plan<1>(inner.shape, {&inner})] {
                reduce<T>(kept, reduced);
                return HAL_OK;
            });
    return HAL_OK;
}

#define REGISTER(dtype, T)                                                                                           \
    REGISTER_KERNEL_WITH("ReduceSum", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<reduce_sum<T>>),                \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .infer = infer<shared::reduced, 1>, \
                         .op_version_min = 1, .op_version_max = 12);
HAL_FOR_FLOATS(REGISTER)
REGISTER(HAL_I32, int32_t) REGISTER(HAL_I64, int64_t) REGISTER(HAL_U32, uint32_t) REGISTER(HAL_U64, uint64_t)

}  // namespace
}  // namespace hal::cpu

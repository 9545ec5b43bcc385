// Operators that compute each output element from the elements at the same place of one or two inputs.
//
// An operator is a struct with a static `apply` on the arithmetic type: halves compute in float and round once. It is
// launched by unary<Op, T> or binary<Op, T>, which is all that an operator's file names.
#pragma once

#include "call.hpp"
#include "loops.hpp"
#include "stream.hpp"

namespace hal::cpu {

namespace detail {

template <class T>
T& element(std::byte* base, int64_t index, int64_t stride) noexcept {
    return *reinterpret_cast<T*>(base + index * stride);
}

// The compiler makes vector code of a loop whose strides it knows, so the usual ones are told apart here.
template <class Op, class T>
void unary_row(const std::array<std::byte*, 2>& at, int64_t count, const std::array<int64_t, 2>& stride) noexcept {
    constexpr auto dense = static_cast<int64_t>(sizeof(T));
    const auto loop = [&](int64_t to, int64_t from) {
        for (int64_t i = 0; i < count; ++i) {
            element<T>(at[0], i, to) = store<T>(Op::apply(load(element<T>(at[1], i, from))));
        }
    };
    if (stride[0] == dense && stride[1] == dense) {
        loop(dense, dense);
    } else {
        loop(stride[0], stride[1]);
    }
}

template <class Op, class T>
void binary_row(const std::array<std::byte*, 3>& at, int64_t count, const std::array<int64_t, 3>& stride) noexcept {
    constexpr auto dense = static_cast<int64_t>(sizeof(T));
    const auto loop = [&](int64_t to, int64_t a, int64_t b) {
        for (int64_t i = 0; i < count; ++i) {
            element<T>(at[0], i, to) =
                store<T>(Op::apply(load(element<T>(at[1], i, a)), load(element<T>(at[2], i, b))));
        }
    };
    if (stride[0] != dense) {
        loop(stride[0], stride[1], stride[2]);
    } else if (stride[1] == dense && stride[2] == dense) {
        loop(dense, dense, dense);
    } else if (stride[1] == dense && stride[2] == 0) {
        loop(dense, dense, 0);
    } else if (stride[1] == 0 && stride[2] == dense) {
        loop(dense, 0, dense);
    } else {
        loop(dense, stride[1], stride[2]);
    }
}

}  // namespace detail

template <class Op, class T>
hal_status unary(Instance& instance, const hal_kernel_call& raw) {
    const auto [input, output] = shared::read_unary(Call(instance, raw, Purpose::run, 1, 1), dtype_of<T>);
    enqueue(instance, raw.device, raw.stream, [plan = make_plan<2>(output.shape, {&output, &input})] {
        for_each_row(plan, detail::unary_row<Op, T>);
        return HAL_OK;
    });
    return HAL_OK;
}

template <class Op, class T>
hal_status binary(Instance& instance, const hal_kernel_call& raw) {
    const auto [a, b, output] = shared::read_binary(Call(instance, raw, Purpose::run, 2, 1), dtype_of<T>);
    enqueue(instance, raw.device, raw.stream, [plan = make_plan<3>(output.shape, {&output, &a, &b})] {
        for_each_row(plan, detail::binary_row<Op, T>);
        return HAL_OK;
    });
    return HAL_OK;
}

inline constexpr uint32_t elementwise_flags = HAL_KERNEL_IN_PLACE | HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC;

}  // namespace hal::cpu

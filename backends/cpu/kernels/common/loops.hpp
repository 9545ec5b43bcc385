// The rows of a plan, one after another.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/plan.hpp"

namespace hal::cpu {

using shared::make_plan;
using shared::Plan;

// Calls row(pointers, count, strides) for every row of the innermost axis.
template <size_t N, class Row>
void for_each_row(const Plan<N>& plan, Row&& row) {
    const int32_t outer = std::max(plan.rank - 1, 0);
    const int64_t count = plan.extent[outer];
    if (std::find(plan.extent.begin(), plan.extent.begin() + plan.rank, 0) != plan.extent.begin() + plan.rank) {
        return;
    }
    std::array<std::byte*, N> at = plan.data;
    std::array<int64_t, HAL_MAX_RANK> index{};
    while (true) {
        row(at, count, plan.stride[outer]);
        int32_t axis = outer - 1;
        for (; axis >= 0; --axis) {
            const bool wraps = ++index[axis] == plan.extent[axis];
            for (size_t k = 0; k < N; ++k) {
                at[k] += wraps ? -(plan.extent[axis] - 1) * plan.stride[axis][k] : plan.stride[axis][k];
            }
            if (!wraps) {
                break;
            }
            index[axis] = 0;
        }
        if (axis < 0) {
            return;
        }
    }
}

}  // namespace hal::cpu

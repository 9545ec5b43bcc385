// Walking tensors of any strides together: broadcast, and merge axes that lie behind each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "call.hpp"

namespace hal::shared {

// Operand 0 is the output. Strides count bytes. Axes from `rank` on are not set: clearing them takes as long as the
// rest of making a plan. Only axis 0 always is: a plan of rank 0 is one element.
template <size_t N>
struct Plan {
    int32_t rank = 0;
    std::array<int64_t, HAL_MAX_RANK> extent;
    std::array<std::array<int64_t, N>, HAL_MAX_RANK> stride;
    std::array<std::byte*, N> data{};
};

// The strides of the view when it is stretched to a shape (numpy's rule: aligned at the last axis, extents of 1
// repeat).
inline std::array<int64_t, HAL_MAX_RANK> broadcast_strides(const View& view, const Shape& shape) noexcept {
    std::array<int64_t, HAL_MAX_RANK> strides{};
    const int32_t shift = shape.rank - view.shape.rank;
    for (int32_t axis = 0; axis < view.shape.rank; ++axis) {
        strides[axis + shift] = view.shape.extent[axis] == 1 ? 0 : view.stride[axis];
    }
    return strides;
}

// Every view must broadcast to the shape. Axes are ordered by the output's strides, so that the inner loop writes
// neighbours.
template <size_t N>
Plan<N> make_plan(const Shape& shape, const std::array<const View*, N>& views) noexcept {
    struct Axis {
        int64_t extent;
        std::array<int64_t, N> stride;
    };
    std::array<std::array<int64_t, HAL_MAX_RANK>, N> strides;
    Plan<N> plan;
    plan.extent[0] = 1;
    plan.stride[0] = {};
    for (size_t k = 0; k < N; ++k) {
        strides[k] = broadcast_strides(*views[k], shape);
        plan.data[k] = views[k]->data;
    }
    std::array<Axis, HAL_MAX_RANK> axes;
    size_t count = 0;
    for (int32_t i = 0; i < shape.rank; ++i) {
        if (shape.extent[i] != 1) {
            axes[count].extent = shape.extent[i];
            for (size_t k = 0; k < N; ++k) {
                axes[count].stride[k] = strides[k][i];
            }
            ++count;
        }
    }
    // By insertion, stable: std::stable_sort would allocate in every launch, for these few.
    for (size_t i = 1; i < count; ++i) {
        for (size_t k = i; k > 0 && std::abs(axes[k - 1].stride[0]) < std::abs(axes[k].stride[0]); --k) {
            std::swap(axes[k - 1], axes[k]);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        const int32_t last = plan.rank - 1;
        bool merges = last >= 0;
        for (size_t k = 0; k < N && merges; ++k) {
            merges = plan.stride[last][k] == axes[i].extent * axes[i].stride[k];
        }
        const int32_t place = merges ? last : plan.rank++;
        plan.extent[place] = (merges ? plan.extent[place] : 1) * axes[i].extent;
        plan.stride[place] = axes[i].stride;
    }
    return plan;
}

}  // namespace hal::shared

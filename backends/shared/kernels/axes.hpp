// The axes that a reduction takes away.
#pragma once

#include <array>

#include "call.hpp"

namespace hal::shared {

struct Axes {
    std::array<bool, HAL_MAX_RANK> reduced{};
    bool keep = true;
};

// The attributes `axes` (default all) and `keepdims` (default 1) of ONNX's reductions.
[[nodiscard]] inline Axes read_axes(const Call& call, int32_t rank) {
    call.attributes({"axes", "keepdims"});
    Axes axes;
    axes.keep = call.integer("keepdims").value_or(1) != 0;
    const auto list = call.integers("axes");
    if (!list || list->empty()) {
        axes.reduced.fill(true);
        return axes;
    }
    for (const int64_t value : *list) {
        bool& reduced = axes.reduced[call.axis(value, rank)];
        if (reduced) {
            call.refuse("", "axis " + std::to_string(value) + " is named twice");
        }
        reduced = true;
    }
    return axes;
}

[[nodiscard]] inline Shape reduced_shape(const Shape& input, const Axes& axes) {
    Shape shape;
    for (int32_t axis = 0; axis < input.rank; ++axis) {
        if (!axes.reduced[axis] || axes.keep) {
            shape.extent[shape.rank++] = axes.reduced[axis] ? 1 : input.extent[axis];
        }
    }
    return shape;
}

// The axes of the view that are reduced, or those that are not, as a view of their own.
[[nodiscard]] inline View select(const View& view, const Axes& axes, bool reduced) {
    View part = view;
    part.shape = {};
    for (int32_t axis = 0; axis < view.shape.rank; ++axis) {
        if (axes.reduced[axis] == reduced) {
            part.stride[part.shape.rank] = view.stride[axis];
            part.shape.extent[part.shape.rank++] = view.shape.extent[axis];
        }
    }
    return part;
}

}  // namespace hal::shared

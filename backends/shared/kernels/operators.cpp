#include "operators.hpp"

namespace hal::shared {
namespace {

void require_castable(const Call& call, hal_dtype dtype) {
    if (!dispatch(dtype, [](auto) {})) {
        call.refuse("output 0",
                    "cast to " + dtype_text(dtype) +
                        " is not offered; expected bool, an integer or a float of 16 to "
                        "64 bits",
                    HAL_ERROR_UNSUPPORTED);
    }
}

// One axis of a view taken out: its extent becomes 1.
View without(View view, int32_t axis) {
    view.shape.extent[axis] = 1;
    return view;
}

}  // namespace

Shape broadcast_shape(const Call& call, const Shape& a, const Shape& b) {
    Shape joined;
    joined.rank = std::max(a.rank, b.rank);
    for (int32_t i = 1; i <= joined.rank; ++i) {
        const int64_t left = i <= a.rank ? a.extent[a.rank - i] : 1;
        const int64_t right = i <= b.rank ? b.extent[b.rank - i] : 1;
        if (left != right && left != 1 && right != 1) {
            call.refuse("", "shapes " + a.text() + " and " + b.text() + " do not broadcast: " + std::to_string(left) +
                                " and " + std::to_string(right) + " at axis -" + std::to_string(i));
        }
        joined.extent[joined.rank - i] = left == 1 ? right : left;
    }
    return joined;
}

OneInput read_unary(const Call& call, hal_dtype dtype) {
    call.attributes({});
    const OneInput tensors{call.input(0), call.output(0)};
    if (dtype != HAL_DTYPE_ANY) {
        call.expect_dtype(tensors.input, "input 0", dtype);
    }
    call.expect_dtype(tensors.output, "output 0", tensors.input.dtype);
    call.expect_shape(tensors.output, "output 0", tensors.input.shape);
    call.expect_apart(tensors.output, tensors.input, "input 0", true);
    return tensors;
}

OneInput read_cast(const Call& call, hal_dtype from) {
    call.attributes({});
    const OneInput tensors{call.input(0), call.output(0)};
    call.expect_dtype(tensors.input, "input 0", from);
    require_castable(call, tensors.output.dtype);
    call.expect_shape(tensors.output, "output 0", tensors.input.shape);
    call.expect_apart(tensors.output, tensors.input, "input 0", tensors.output.item_bytes == tensors.input.item_bytes);
    return tensors;
}

Inferred same_as_input(const Call& call) {
    const View input = call.input(0);
    return {input.dtype, input.shape};
}

Inferred cast_shape(const Call& call) {
    return {HAL_DTYPE_ANY, call.input(0).shape};
}

uint64_t can_cast(const Call& call) {
    static_cast<void>(call.input(0));
    if (call.raw().output_count == 1) {
        require_castable(call, call.output(0).dtype);
    }
    return 0;
}

TwoInputs read_binary(const Call& call, hal_dtype dtype) {
    call.attributes({});
    const TwoInputs tensors{call.input(0), call.input(1), call.output(0)};
    call.expect_dtype(tensors.a, "input 0", dtype);
    call.expect_dtype(tensors.b, "input 1", dtype);
    call.expect_dtype(tensors.output, "output 0", dtype);
    call.expect_shape(tensors.output, "output 0", broadcast_shape(call, tensors.a.shape, tensors.b.shape));
    call.expect_apart(tensors.output, tensors.a, "input 0", true);
    call.expect_apart(tensors.output, tensors.b, "input 1", true);
    return tensors;
}

Inferred broadcast_of_two(const Call& call) {
    const View a = call.input(0);
    const View b = call.input(1);
    call.expect_dtype(b, "input 1", a.dtype);
    return {a.dtype, broadcast_shape(call, a.shape, b.shape)};
}

uint64_t two_inputs(const Call& call) {
    if (call.inputs() != 2) {
        call.refuse("", std::to_string(call.inputs()) + " inputs were given, this kernel takes two; chain them",
                    HAL_ERROR_UNSUPPORTED);
    }
    static_cast<void>(broadcast_of_two(call));
    return 0;
}

View read_fill(const Call& call, hal_dtype dtype) {
    call.attributes({"value"});
    const View output = call.output(0);
    call.expect_dtype(output, "output 0", dtype);
    return output;
}

Reduction read_reduce_sum(const Call& call, hal_dtype dtype) {
    const View input = call.input(0);
    const View output = call.output(0);
    call.expect_dtype(input, "input 0", dtype);
    call.expect_dtype(output, "output 0", dtype);
    const Axes axes = read_axes(call, input.shape.rank);
    call.expect_shape(output, "output 0", reduced_shape(input.shape, axes));
    call.expect_apart(output, input, "input 0", false);
    return {axes.keep ? select(output, axes, false) : output, select(input, axes, false), select(input, axes, true)};
}

Inferred reduced(const Call& call) {
    const View input = call.input(0);
    return {input.dtype, reduced_shape(input.shape, read_axes(call, input.shape.rank))};
}

Rows read_softmax(const Call& call, hal_dtype dtype) {
    call.attributes({"axis"});
    const View input = call.input(0);
    const View output = call.output(0);
    call.expect_dtype(input, "input 0", dtype);
    call.expect_dtype(output, "output 0", dtype);
    call.expect_shape(output, "output 0", input.shape);
    call.expect_apart(output, input, "input 0", true);
    if (input.shape.rank == 0) {
        call.refuse("input 0", "it is a scalar, which has no axis");
    }
    const int32_t axis = call.axis(call.integer("axis").value_or(-1), input.shape.rank);
    return {without(input, axis), without(output, axis), input.shape.extent[axis], input.stride[axis],
            output.stride[axis]};
}

}  // namespace hal::shared

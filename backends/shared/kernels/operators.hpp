// The rules of each operator, the same on every back end: which tensors and attributes it takes. A read_ function
// checks a whole call and gives its tensors; its errors name the operator, the tensor, what was found and what is
// expected. What has no comment follows ONNX. `dtype` is that of the registration.
#pragma once

#include "axes.hpp"
#include "call.hpp"
#include "numbers.hpp"

namespace hal::shared {

// numpy's rule; refuses shapes that it does not join.
[[nodiscard]] Shape broadcast_shape(const Call& call, const Shape& a, const Shape& b);

// ---- One input: Relu, Exp, Copy, Cast ----
struct OneInput {
    View input;
    View output;
};
// Equal types (ANY: whatever the input has) and shapes; may run in place.
[[nodiscard]] OneInput read_unary(const Call& call, hal_dtype dtype);
// The output's type says what to cast to; UNSUPPORTED for one without a C++ type (numbers.hpp).
[[nodiscard]] OneInput read_cast(const Call& call, hal_dtype from);
[[nodiscard]] Inferred same_as_input(const Call& call);
[[nodiscard]] Inferred cast_shape(const Call& call);  // of any type: it is the caller's choice
[[nodiscard]] uint64_t can_cast(const Call& call);    // for `query`

// ---- Two inputs that broadcast: Add, Sub, Mul, Max ----
struct TwoInputs {
    View a;
    View b;
    View output;
};
[[nodiscard]] TwoInputs read_binary(const Call& call, hal_dtype dtype);
[[nodiscard]] Inferred broadcast_of_two(const Call& call);
// ONNX's Max allows any number of inputs, ours takes two: `query` says UNSUPPORTED for others.
[[nodiscard]] uint64_t two_inputs(const Call& call);

// ---- Fill: no input, the attribute `value` (i64 or f64, required) ----
[[nodiscard]] View read_fill(const Call& call, hal_dtype dtype);

// Converted as Cast does.
template <class T>
[[nodiscard]] T fill_value(const Call& call) {
    const auto value = call.number("value");
    if (!value) {
        call.refuse("", "attribute \"value\" is missing");
    }
    return std::visit([](auto number) { return convert<T>(number); }, *value);  // of an integer all 64 bits
}

// ---- ReduceSum ----
struct Reduction {
    View output;  // without the axes that are reduced
    View outer;   // of the input: the axes that stay,
    View inner;   // and those that are summed
};
[[nodiscard]] Reduction read_reduce_sum(const Call& call, hal_dtype dtype);
[[nodiscard]] Inferred reduced(const Call& call);

// ---- Softmax ----
struct Rows {
    View input;  // with extent 1 on the axis, like `output`
    View output;
    int64_t extent;        // of the axis
    int64_t input_stride;  // along it, bytes
    int64_t output_stride;
};
[[nodiscard]] Rows read_softmax(const Call& call, hal_dtype dtype);

}  // namespace hal::shared

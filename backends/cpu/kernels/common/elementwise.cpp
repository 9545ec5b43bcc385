#include "elementwise.hpp"

namespace hal::cpu {

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

Inferred same_as_input(Instance& instance, const hal_kernel_call& raw) {
    const View input = Call(instance, raw, Purpose::query, 1, 1).input(0);
    return {input.dtype, input.shape};
}

Inferred broadcast_of_two(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::query, 2, 1);
    const View a = call.input(0);
    const View b = call.input(1);
    call.expect_dtype(b, "input 1", a.dtype);
    return {a.dtype, broadcast_shape(call, a.shape, b.shape)};
}

}  // namespace hal::cpu

// Max, as ONNX Max (opset 13) of two inputs, with broadcasting. NaN wins, as in numpy.maximum; of +0 and -0 either may
// come back.
#include <cmath>

#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

struct Max {
    template <class T>
    static T apply(T a, T b) noexcept {
        if constexpr (std::floating_point<T>) {
            return a > b || a != a ? a : b;  // a NaN b fails the comparison and is taken
        } else {
            return a > b ? a : b;
        }
    }
};

#define REGISTER(dtype, T)                                                                           \
    REGISTER_KERNEL_WITH("Max", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<binary<Max, T>>),     \
                         .flags = elementwise_flags, .query = query<shared::two_inputs, any_inputs>, \
                         .infer = infer<shared::broadcast_of_two, 2>);
HAL_FOR_NUMBERS(REGISTER)

}  // namespace
}  // namespace hal::cpu

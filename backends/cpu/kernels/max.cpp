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

// ONNX allows any number of inputs; this kernel takes two.
uint64_t two_inputs(Instance& instance, const hal_kernel_call& raw) {
    if (raw.input_count != 2) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED, "Max: " + std::to_string(raw.input_count) +
                                                    " inputs were given, this kernel takes two; chain them");
    }
    (void)broadcast_of_two(instance, raw);
    return 0;
}

#define REGISTER(dtype, T)                                                                       \
    REGISTER_KERNEL_WITH("Max", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<binary<Max, T>>), \
                         .flags = elementwise_flags, .query = query<two_inputs>, .infer = infer<broadcast_of_two>);
HAL_CPU_FOR_NUMBERS(REGISTER)

}  // namespace
}  // namespace hal::cpu

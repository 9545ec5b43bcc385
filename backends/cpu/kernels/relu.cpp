// Relu, as ONNX Relu (opset 14): max(0, x). NaN stays NaN.
#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

struct Relu {
    template <class T>
    static T apply(T x) noexcept {
        return x < T{0} ? T{0} : x;
    }
};

#define REGISTER(dtype, T)                                                                        \
    REGISTER_KERNEL_WITH("Relu", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<unary<Relu, T>>), \
                         .flags = elementwise_flags, .infer = infer<shared::same_as_input, 1>);
HAL_FOR_FLOATS(REGISTER)
REGISTER(HAL_I8, int8_t) REGISTER(HAL_I16, int16_t) REGISTER(HAL_I32, int32_t) REGISTER(HAL_I64, int64_t)

}  // namespace
}  // namespace hal::cpu

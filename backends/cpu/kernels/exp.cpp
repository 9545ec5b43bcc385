// Exp, as ONNX Exp (opset 13).
#include "common/exp.hpp"

#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

struct Exp {
    template <class T>
    static T apply(T x) noexcept {
        return exponential(x);
    }
};

#define REGISTER(dtype, T)                                                                      \
    REGISTER_KERNEL_WITH("Exp", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<unary<Exp, T>>), \
                         .flags = elementwise_flags, .infer = infer<shared::same_as_input, 1>);
HAL_FOR_FLOATS(REGISTER)

}  // namespace
}  // namespace hal::cpu

// Add, as ONNX Add (opset 7 and later): a + b with broadcasting. Integers wrap around.
#include "common/elementwise.hpp"
#include "common/wrap.hpp"

namespace hal::cpu {
namespace {

struct Add {
    template <class T>
    static T apply(T a, T b) noexcept {
        return wrapping<T>([](auto x, auto y) { return x + y; }, a, b);
    }
};

#define REGISTER(dtype, T)                                                                       \
    REGISTER_KERNEL_WITH("Add", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<binary<Add, T>>), \
                         .flags = elementwise_flags, .infer = infer<shared::broadcast_of_two, 2>);
HAL_FOR_NUMBERS(REGISTER)

}  // namespace
}  // namespace hal::cpu

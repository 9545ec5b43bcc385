// Fill: every element of output 0 becomes the attribute `value` (i64 or f64, required), converted as Cast does. ONNX
// has only ConstantOfShape, which makes a new tensor.
#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

template <class T>
hal_status fill(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 0, 1);
    const View output = shared::read_fill(call, dtype_of<T>);
    const auto plan = make_plan<1>(output.shape, {&output});
    enqueue(instance, raw.device, raw.stream, [plan, value = shared::fill_value<T>(call)] {
        for_each_row(plan, [value](const auto& at, int64_t count, const auto& stride) {
            if (stride[0] == sizeof(T) || count == 1) {
                std::fill_n(reinterpret_cast<T*>(at[0]), count, value);
                return;
            }
            for (int64_t i = 0; i < count; ++i) {
                detail::element<T>(at[0], i, stride[0]) = value;
            }
        });
        return HAL_OK;
    });
    return HAL_OK;
}

#define REGISTER(dtype, T)                                                                 \
    REGISTER_KERNEL_WITH("Fill", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<fill<T>>), \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC);
HAL_FOR_TYPES(REGISTER)

}  // namespace
}  // namespace hal::cpu

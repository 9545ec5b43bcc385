// Cast, as ONNX Cast (opset 13) between bool, integers and floats; the rules of rounding and saturation, which ONNX
// leaves open, are those of shared/kernels/numbers.hpp. The output tensor's dtype says what to cast to, not the
// attribute `to` with its ONNX numbers.
#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

template <class D, class S>
void cast_row(const std::array<std::byte*, 2>& at, int64_t count, const std::array<int64_t, 2>& stride) noexcept {
    const auto loop = [&](int64_t to, int64_t from) {
        for (int64_t i = 0; i < count; ++i) {
            detail::element<D>(at[0], i, to) = convert<D>(detail::element<S>(at[1], i, from));
        }
    };
    if (stride[0] == sizeof(D) && stride[1] == sizeof(S)) {
        loop(sizeof(D), sizeof(S));
    } else {
        loop(stride[0], stride[1]);
    }
}

template <class S>
hal_status cast(Instance& instance, const hal_kernel_call& raw) {
    const auto [input, output] = shared::read_cast(Call(instance, raw, Purpose::run, 1, 1), dtype_of<S>);
    const auto plan = make_plan<2>(output.shape, {&output, &input});
    dispatch(output.dtype, [&]<class D>(std::type_identity<D>) {
        enqueue(instance, raw.device, raw.stream, [plan] {
            for_each_row(plan, cast_row<D, S>);
            return HAL_OK;
        });
    });
    return HAL_OK;
}

#define REGISTER(dtype, T)                                                                                            \
    REGISTER_KERNEL_WITH("Cast", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<cast<T>>),                            \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<shared::can_cast, 1>, \
                         .infer = infer<shared::cast_shape, 1>);
HAL_FOR_TYPES(REGISTER)

}  // namespace
}  // namespace hal::cpu

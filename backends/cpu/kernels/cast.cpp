// Cast, as ONNX Cast (opset 13) between bool, integers and floats; the rules of rounding and saturation, which ONNX
// leaves open, are those of common/numbers.hpp. The output tensor's dtype says what to cast to, not the attribute `to`
// with its ONNX numbers.
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

void require_known(const Call& call, hal_dtype dtype) {
    if (!dispatch(dtype, [](auto) {})) {
        call.refuse("output 0",
                    "cast to " + dtype_text(dtype) +
                        " is not offered; expected bool, an integer or a float of 16 to "
                        "64 bits",
                    HAL_ERROR_UNSUPPORTED);
    }
}

template <class S>
hal_status cast(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 1, 1);
    call.attributes({});
    const View input = call.input(0);
    const View output = call.output(0);
    call.expect_dtype(input, "input 0", dtype_of<S>);
    require_known(call, output.dtype);
    call.expect_shape(output, "output 0", input.shape);
    call.expect_apart(output, input, "input 0", output.item_bytes == input.item_bytes);
    const auto plan = make_plan<2>(output.shape, {&output, &input});
    dispatch(output.dtype, [&]<class D>(std::type_identity<D>) {
        enqueue(instance, raw.device, raw.stream, [plan] {
            for_each_row(plan, cast_row<D, S>);
            return HAL_OK;
        });
    });
    return HAL_OK;
}

uint64_t can_cast(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::query, 1, 1);
    (void)call.input(0);
    if (raw.output_count == 1) {
        require_known(call, call.output(0).dtype);
    }
    return 0;
}

Inferred cast_shape(Instance& instance, const hal_kernel_call& raw) {
    return {HAL_DTYPE_ANY, same_as_input(instance, raw).shape};  // the type is the caller's choice
}

#define REGISTER(dtype, T)                                                                                 \
    REGISTER_KERNEL_WITH("Cast", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<cast<T>>),                 \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<can_cast>, \
                         .infer = infer<cast_shape>);
HAL_CPU_FOR_TYPES(REGISTER)

}  // namespace
}  // namespace hal::cpu

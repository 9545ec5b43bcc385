// Copy, as ONNX Identity (opset 16) of one tensor whose strides may differ from the output's. Any type of whole bytes.
#include "copy.hpp"

#include <cstring>

#include "common/elementwise.hpp"

namespace hal::cpu {
namespace {

template <size_t Bytes>
struct Item {
    std::array<std::byte, Bytes> bytes;
};

// A fixed size becomes one load and one store.
template <size_t Bytes>
void copy_row(const std::array<std::byte*, 2>& at, int64_t count, const std::array<int64_t, 2>& stride) noexcept {
    if (stride[0] == Bytes && stride[1] == Bytes) {
        copy_bytes(at[0], at[1], static_cast<uint64_t>(count) * Bytes);
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        detail::element<Item<Bytes>>(at[0], i, stride[0]) = detail::element<Item<Bytes>>(at[1], i, stride[1]);
    }
}

hal_status copy(Instance& instance, const hal_kernel_call& raw) {
    const auto [input, output] = shared::read_unary(Call(instance, raw, Purpose::run, 1, 1), HAL_DTYPE_ANY);
    const auto plan = make_plan<2>(output.shape, {&output, &input});
    enqueue(instance, raw.device, raw.stream, [plan, bytes = input.item_bytes] {
        switch (bytes) {
            case 1:
                for_each_row(plan, copy_row<1>);
                break;
            case 2:
                for_each_row(plan, copy_row<2>);
                break;
            case 4:
                for_each_row(plan, copy_row<4>);
                break;
            case 8:
                for_each_row(plan, copy_row<8>);
                break;
            case 16:
                for_each_row(plan, copy_row<16>);
                break;
            default:
                for_each_row(plan, [bytes](const auto& at, int64_t count, const auto& stride) {
                    for (int64_t i = 0; i < count; ++i) {
                        std::memmove(at[0] + i * stride[0], at[1] + i * stride[1], static_cast<size_t>(bytes));
                    }
                });
        }
        return HAL_OK;
    });
    return HAL_OK;
}

REGISTER_KERNEL_WITH("Copy", "cpu.ref", HAL_LAYOUT_ANY, HAL_DTYPE_ANY, sdk::kernel<copy>, .flags = elementwise_flags,
                     .infer = infer<shared::same_as_input, 1>);

}  // namespace
}  // namespace hal::cpu

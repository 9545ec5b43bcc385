// MatMul, as ONNX MatMul (opset 13) with transA and transB (shared/kernels/matrices.hpp). Halves compute in float.
// Matrices that the multiplication cannot read in place (halves, other strides than a row or column of neighbours) are
// packed into the workspace.
#include "common/elementwise.hpp"
#include "common/matrix.hpp"

namespace hal::cpu {
namespace {

// What is packed, in bytes of workspace; 0 for what is used in place.
struct Scratch {
    uint64_t a, b, c;
    [[nodiscard]] uint64_t total() const noexcept { return a + b + c; }
};

template <class T>
Scratch plan_scratch(const Product& product) {
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    const bool native = !Half<T>;
    const auto readable = [&](const Side& side) { return native && (side.straight(item) || side.transposed(item)); };
    return {scratch_of(product.a, readable(product.a), sizeof(Compute<T>)),
            scratch_of(product.b, readable(product.b), sizeof(Compute<T>)),
            scratch_of(product.c, native && product.c.straight(item), sizeof(Compute<T>))};
}

template <class T>
void multiply(const hal_host* host, const Product& p, const Scratch& scratch, std::byte* c, const std::byte* a,
              const std::byte* b, std::byte* work) {
    const auto left = operand<T>(p.a, a, scratch.a != 0 ? work : nullptr);
    const auto right = operand<T>(p.b, b, scratch.b != 0 ? work + scratch.a : nullptr);
    if (scratch.c == 0) {
        gemm(host, p.c.rows, p.c.columns, p.a.columns, left, right, reinterpret_cast<Compute<T>*>(c),
             p.c.pitch(sizeof(T)));
        return;
    }
    auto* result = reinterpret_cast<Compute<T>*>(work + scratch.a + scratch.b);
    gemm(host, p.c.rows, p.c.columns, p.a.columns, left, right, result, p.c.columns);
    unpack<T>(p.c, result, c);
}

template <class T>
hal_status matmul(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 2, 1);
    const Product product = shared::read_matmul(call, dtype_of<T>);
    const Scratch scratch = plan_scratch<T>(product);
    std::byte* const work = call.workspace(scratch.total());
    const auto plan = make_plan<3>(product.batch, {&product.batch_c, &product.batch_a, &product.batch_b});
    if (product.output.count() == 0) {
        return HAL_OK;
    }
    enqueue(instance, raw.device, raw.stream, [plan, product, scratch, work, host = instance.host()] {
        for_each_row(plan, [&](const auto& at, int64_t count, const auto& stride) {
            for (int64_t i = 0; i < count; ++i) {
                multiply<T>(host, product, scratch, at[0] + i * stride[0], at[1] + i * stride[1], at[2] + i * stride[2],
                            work);
            }
        });
        return HAL_OK;
    });
    return HAL_OK;
}

template <class T>
uint64_t workspace(const shared::Call& call) {
    return plan_scratch<T>(shared::read_matmul(call, dtype_of<T>)).total();
}

#define REGISTER(dtype, T)                                                                                        \
    REGISTER_KERNEL_WITH("MatMul", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<matmul<T>>),                    \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<workspace<T>, 2>, \
                         .infer = infer<shared::product_shape, 2>);
HAL_FOR_FLOATS(REGISTER)

}  // namespace
}  // namespace hal::cpu

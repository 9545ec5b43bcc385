// MatMul, as ONNX MatMul (opset 13): numpy.matmul with broadcast batches and vectors. The attributes transA and transB
// (0 or 1), named as in ONNX Gemm, swap the last two axes of an input. Halves compute in float. Matrices that the
// multiplication cannot read in place (halves, other strides than a row or column of neighbours) are packed into the
// workspace.
#include "common/elementwise.hpp"
#include "common/matrix.hpp"

namespace hal::cpu {
namespace {

struct Problem {
    Side a, b, c;
    Shape output;
    Shape batch;
    View batches[2];                                       // of a and b
    uint64_t scratch_a = 0, scratch_b = 0, scratch_c = 0;  // bytes of workspace, 0 for what is used in place
    [[nodiscard]] uint64_t workspace() const noexcept { return scratch_a + scratch_b + scratch_c; }
};

bool flag(const Call& call, const char* name) {
    const int64_t value = call.integer(name).value_or(0);
    if (value != 0 && value != 1) {
        call.refuse("", "attribute \"" + std::string(name) + "\" is " + std::to_string(value) + ", expected 0 or 1");
    }
    return value == 1;
}

Problem describe(const Call& call, const View& a, const View& b) {
    call.attributes({"transA", "transB"});
    call.expect_dtype(b, "input 1", a.dtype);
    if (a.shape.rank == 0 || b.shape.rank == 0) {
        call.refuse(a.shape.rank == 0 ? "input 0" : "input 1",
                    "it is a scalar, expected a vector, a matrix or a batch of them");
    }
    Problem problem;
    problem.a = split(a, true, flag(call, "transA"), problem.batches[0]);
    problem.b = split(b, false, flag(call, "transB"), problem.batches[1]);
    if (problem.a.columns != problem.b.rows) {
        call.refuse("", "input 0 has " + std::to_string(problem.a.columns) + " columns, input 1 " +
                            std::to_string(problem.b.rows) + " rows (shapes " + a.shape.text() + " and " +
                            b.shape.text() + "); they must be equal");
    }
    problem.batch = broadcast_shape(call, problem.batches[0].shape, problem.batches[1].shape);
    problem.output = problem.batch;
    if (a.shape.rank > 1) {
        problem.output.extent[problem.output.rank++] = problem.a.rows;
    }
    if (b.shape.rank > 1) {
        problem.output.extent[problem.output.rank++] = problem.b.columns;
    }
    return problem;
}

// What is packed. `output` may have no data yet.
template <class T>
void plan_workspace(Problem& problem, const View& output, int32_t left_rank, int32_t right_rank) {
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    const bool native = !Half<T>;
    const auto axis = [&](int32_t from_end) { return static_cast<size_t>(output.shape.rank - from_end); };
    problem.c = {problem.a.rows, problem.b.columns, 0, 0};
    if (right_rank > 1) {
        problem.c.column_stride = output.stride[axis(1)];
    }
    if (left_rank > 1) {
        problem.c.row_stride = output.stride[axis(right_rank > 1 ? 2 : 1)];
    }
    const auto readable = [&](const Side& side) { return native && (side.straight(item) || side.transposed(item)); };
    problem.scratch_a = scratch_of(problem.a, readable(problem.a), sizeof(Compute<T>));
    problem.scratch_b = scratch_of(problem.b, readable(problem.b), sizeof(Compute<T>));
    problem.scratch_c = scratch_of(problem.c, native && problem.c.straight(item), sizeof(Compute<T>));
}

template <class T>
void multiply(const hal_host* host, const Problem& p, std::byte* c, const std::byte* a, const std::byte* b,
              std::byte* work) {
    const auto left = operand<T>(p.a, a, p.scratch_a != 0 ? work : nullptr);
    const auto right = operand<T>(p.b, b, p.scratch_b != 0 ? work + p.scratch_a : nullptr);
    if (p.scratch_c == 0) {
        gemm(host, p.c.rows, p.c.columns, p.a.columns, left, right, reinterpret_cast<Compute<T>*>(c),
             p.c.pitch(sizeof(T)));
        return;
    }
    auto* result = reinterpret_cast<Compute<T>*>(work + p.scratch_a + p.scratch_b);
    gemm(host, p.c.rows, p.c.columns, p.a.columns, left, right, result, p.c.columns);
    unpack<T>(p.c, result, c);
}

template <class T>
hal_status matmul(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::run, 2, 1);
    const View a = call.input(0);
    const View b = call.input(1);
    const View output = call.output(0);
    call.expect_dtype(a, "input 0", dtype_of<T>);
    call.expect_dtype(output, "output 0", dtype_of<T>);
    Problem problem = describe(call, a, b);
    call.expect_shape(output, "output 0", problem.output);
    call.expect_apart(output, a, "input 0", false);
    call.expect_apart(output, b, "input 1", false);
    plan_workspace<T>(problem, output, a.shape.rank, b.shape.rank);
    std::byte* const work = call.workspace(problem.workspace());
    View batch_out = output;
    batch_out.shape = problem.batch;
    const auto plan = make_plan<3>(problem.batch, {&batch_out, &problem.batches[0], &problem.batches[1]});
    if (output.shape.count() == 0) {
        return HAL_OK;
    }
    enqueue(instance, raw.device, raw.stream, [plan, problem, work, host = instance.host()] {
        for_each_row(plan, [&](const auto& at, int64_t count, const auto& stride) {
            for (int64_t i = 0; i < count; ++i) {
                multiply<T>(host, problem, at[0] + i * stride[0], at[1] + i * stride[1], at[2] + i * stride[2], work);
            }
        });
        return HAL_OK;
    });
    return HAL_OK;
}

template <class T>
uint64_t workspace(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::query, 2, 1);
    const View a = call.input(0);
    const View b = call.input(1);
    Problem problem = describe(call, a, b);
    const View output = raw.output_count == 0 ? dense_view(a.dtype, problem.output) : call.output(0);
    call.expect_shape(output, "output 0", problem.output);
    plan_workspace<T>(problem, output, a.shape.rank, b.shape.rank);
    return problem.workspace();
}

Inferred product(Instance& instance, const hal_kernel_call& raw) {
    const Call call(instance, raw, Purpose::query, 2, 1);
    const View a = call.input(0);
    return {a.dtype, describe(call, a, call.input(1)).output};
}

#define REGISTER(dtype, T)                                                                                     \
    REGISTER_KERNEL_WITH("MatMul", "cpu.ref", HAL_LAYOUT_ANY, dtype, (sdk::kernel<matmul<T>>),                 \
                         .flags = HAL_KERNEL_STRIDED | HAL_KERNEL_DETERMINISTIC, .query = query<workspace<T>>, \
                         .infer = infer<product>);
HAL_CPU_FOR_FLOATS(REGISTER)

}  // namespace
}  // namespace hal::cpu

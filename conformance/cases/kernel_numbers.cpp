// Table 5, category num: what the registered operators compute. Exact data come first and are compared bit for bit;
// then data with a bound that follows from the computation (numbers/). The numbers' own test proves that each bound has
// power.
#include "kernel_call.hpp"

namespace hal::conformance {
namespace {

void run_trials(Test& t, Trials trials) {
    const hal_stream stream = t.stream();
    for (const Trial& trial : trials(element_of(t.param("dtype")), [&] { return t.random(); })) {
        run_trial(t, trial, stream);
    }
}

#define NUMBERS(case_name, op_name, trials, ...)                                                         \
    HAL_CASE("45079.T5.register_kernel.num." case_name, clauses{"45079/T5.1", "45079/T6"}, authority::D, \
             needs{E::register_kernel, launching(), op(op_name)}, dtypes_of(op_name, {__VA_ARGS__}))     \
    (Test & t) {                                                                                         \
        run_trials(t, &trials);                                                                          \
    }

#define REALS "f32", "f64", "f16", "bf16"
#define WHOLES "i8", "i16", "i32", "i64"
#define NATURALS "u8", "u16", "u32", "u64"

NUMBERS("fill", "Fill", fill_trials, REALS, WHOLES, NATURALS, "bool")
NUMBERS("copy", "Copy", copy_trials, REALS, WHOLES, NATURALS, "bool")
NUMBERS("cast", "Cast", cast_trials, REALS, WHOLES, NATURALS)
NUMBERS("add", "Add", add_trials, REALS, WHOLES, NATURALS)
NUMBERS("sub", "Sub", sub_trials, REALS, WHOLES, NATURALS)
NUMBERS("mul", "Mul", mul_trials, REALS, WHOLES, NATURALS)
NUMBERS("max", "Max", max_trials, REALS, WHOLES, NATURALS)
NUMBERS("relu", "Relu", relu_trials, REALS, WHOLES)
NUMBERS("exp", "Exp", exp_trials, REALS)
NUMBERS("reduce_sum_exact", "ReduceSum", reduce_sum_exact_trials, REALS, "i32", "i64", "u32", "u64")
NUMBERS("reduce_sum_bound", "ReduceSum", reduce_sum_bound_trials, REALS)
NUMBERS("softmax", "Softmax", softmax_trials, REALS)
NUMBERS("matmul_exact", "MatMul", matmul_exact_trials, REALS)
NUMBERS("matmul_bound", "MatMul", matmul_bound_trials, REALS)

// Every operator, every type that it has, 500 shapes.
HAL_CASE("45079.T5.register_kernel.stress.random_shapes", clauses{"45079/T5.1", "45079/T6"}, authority::D,
         needs{E::register_kernel, launching()}, operators(), cls::medium)
(Test& t) {
    const std::string name(t.param("op"));
    std::vector<Element> types;
    for (const Element& type : elements()) {
        const bool boolean = type.kind == Element::Kind::boolean;
        if (!boolean && t.facts.ops.contains(name + "/" + std::string(type.name))) {
            types.push_back(type);
        }
    }
    const hal_stream stream = t.stream();
    for (uint64_t i = 0; i < 500 && !types.empty(); ++i) {
        const auto in = t.context("trial", i);
        run_trial(t, random_trial(name, types[t.random() % types.size()], [&] { return t.random(); }), stream);
    }
}

}  // namespace
}  // namespace hal::conformance

// Table 5: what a launch may and may not do, for every operator of the suite's catalogue that the plug-in has.
#include "kernel_call.hpp"

namespace hal::conformance {
namespace {

Trial f32_trial(Test& t) {
    return random_trial(t.param("op"), element_of(HAL_F32), [&] { return t.random(); });
}

// What query says can be run runs. A refusal is legal and leaves everything as it was.
HAL_CASE("45079.T5.register_kernel.norm.query_then_run", clauses{"45079/T5.1"}, authority::A,
         needs{E::register_kernel, launching()}, operators("f32"))
(Test& t) {
    for (int round = 0; round < 20; ++round) {
        const Trial trial = f32_trial(t);
        const auto op = operator_of(t, trial);
        const hal_status status = op->query();
        op->expect_unwritten();
        op->expect_inputs_unchanged();
        if (status != HAL_ERROR_UNSUPPORTED) {
            t.ok(status, "query");
            t.ok(op->launch(nullptr), "run after query said it can");
            t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        }
        op->release();
    }
}

HAL_CASE("45079.T5.register_kernel.norm.workspace_honoured", clauses{"45079/T5.1"}, authority::A,
         needs{E::register_kernel, launching()}, operators("f32"))
(Test& t) {
    for (int round = 0; round < 10; ++round) {
        const auto op = operator_of(t, f32_trial(t));
        if (op->launch(nullptr) == HAL_OK) {
            t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
            op->expect_workspace_kept();
        }
        op->release();
    }
}

// A kernel that claims it gets its output where input 0 lies. That it ran once and not twice shows too.
HAL_CASE("45079.T5.register_kernel.norm.inplace_flags", clauses{"45079/T5.1"}, authority::A,
         needs{E::register_kernel, launching()}, operators("f32"))
(Test& t) {
    for (int round = 0; round < 10; ++round) {
        const Trial trial = f32_trial(t);
        const auto op = operator_of(t, trial);
        const bool fits = !trial.inputs.empty() && trial.inputs[0].shape == trial.shape &&
                          trial.inputs[0].type.dtype == trial.type.dtype;
        if (fits && op->kernel() != nullptr && (op->kernel()->flags & HAL_KERNEL_IN_PLACE) != 0) {
            op->in_place();
            t.ok(op->launch(nullptr), "launch in place");
            t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
            t.eq(std::string("right"), judge_result(trial, op->read_output()).value_or("right"), "result in place");
        }
        op->release();
    }
}

// A kernel that claims it is given a matrix by columns; it must not take it by rows.
HAL_CASE("45079.T5.register_kernel.norm.strided_honoured", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel, launching(), op("Copy")})
(Test& t) {
    constexpr int64_t rows = 5;
    constexpr int64_t columns = 7;
    static const int64_t by_columns[] = {1, rows};
    std::vector<float> stored(rows * columns);
    std::vector<float> expected(rows * columns);
    for (size_t i = 0; i < stored.size(); ++i) {
        stored[i] = static_cast<float>(i + 1);
    }
    for (size_t r = 0; r < rows; ++r) {
        for (size_t c = 0; c < columns; ++c) {
            expected[r * columns + c] = stored[c * rows + r];
        }
    }
    Operator copy(t, "Copy", HAL_F32);
    copy.input<float>({rows, columns}, stored);
    copy.output(HAL_F32, {rows, columns});
    const bool claimed = copy.kernel() != nullptr && (copy.kernel()->flags & HAL_KERNEL_STRIDED) != 0;
    t.check(copy.kernel() != nullptr, "a kernel for Copy");
    if (claimed) {
        copy.tensor(0).strides = by_columns;
        t.ok(copy.launch(nullptr));
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        copy.expect_output(expected);
    }
}

// The shapes that are forgotten: no dimension at all, eight of them, one stretched over another.
void check_shape(Test& t, std::string_view name) {
    for (const Trial& trial : add_trials(element_of(HAL_F32), [&] { return t.random(); })) {
        if (trial.name == name) {
            run_trial(t, trial, nullptr);
        }
    }
}
HAL_CASE("45079.T5.register_kernel.edge.scalar", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, launching(), op("Add", "f32")})
(Test& t) {
    check_shape(t, "scalar");
}
HAL_CASE("45079.T5.register_kernel.edge.rank8", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, launching(), op("Add", "f32")})
(Test& t) {
    check_shape(t, "rank 8");
}
HAL_CASE("45079.T5.register_kernel.edge.broadcast", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, launching(), op("Add", "f32")})
(Test& t) {
    check_shape(t, "row and column");
}

HAL_CASE("45079.T5.register_kernel.conc.invoke_streams8", clauses{"45079/T5.1"}, authority::A,
         needs{E::register_kernel, launching(), free_threads, op("Add", "f32")})
(Test& t) {
    constexpr int streams = 8;
    std::vector<hal_stream> own;
    std::vector<Trial> trials;
    std::vector<std::unique_ptr<Operator>> ops;
    for (int i = 0; i < streams; ++i) {
        own.push_back(t.stream());
        trials.push_back(random_trial("Add", element_of(HAL_F32), [&] { return t.random(); }));
        ops.push_back(operator_of(t, trials.back()));
        t.ok(ops.back()->launch(own.back()), "the first launch, which makes the workspace");
        t.sync(own.back());
    }
    t.threads(streams, [&](int thread) {
        const auto i = static_cast<size_t>(thread);
        for (int round = 0; round < 100; ++round) {
            t.ok(ops[i]->launch(own[i]), "launch on a stream of its own");
        }
        t.sync(own[i]);
        t.eq(std::string("right"), judge_result(trials[i], ops[i]->read_output()).value_or("right"), "Add");
    });
}

}  // namespace
}  // namespace hal::conformance

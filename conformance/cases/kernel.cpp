// Table 5: the registered kernels as data, and how a launch behaves. What they compute: kernel_numbers.cpp.
#include "kernel_call.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T5.register_kernel.norm.enumerate_all", clauses{"45079/T5.1", "45079/T6"}, authority::S,
         needs{E::register_kernel})
(Test& t) {
    const auto kernels = kernels_of(t);
    const std::string name = t.backend().descriptor().name;
    for (const hal_kernel* kernel : kernels) {
        t.check(kernel != nullptr && kernel->size >= offsetof(hal_kernel, flags),
                "the struct holds the parameters of table 6");
        const std::string op = kernel->op == nullptr ? "" : kernel->op;
        t.check(!op.empty() && op.size() <= 255, "an operator name of 1 to 255 bytes");
        t.eq(name, std::string(kernel->backend == nullptr ? "" : kernel->backend), "hardware name of " + op);
        t.check(kernel->run != nullptr, "a function for " + op);
        t.check(kernel->file != nullptr && kernel->line > 0, "source file and line of " + op);
        t.check(kernel->signature_count == 0 || kernel->signature != nullptr, "a signature where one is counted");
        t.check(kernel->op_version_min <= kernel->op_version_max, "a range of versions");
    }
}

HAL_CASE("45079.T5.register_kernel.norm.stable", clauses{"45079/T5.1"}, authority::A, needs{E::register_kernel})
(Test& t) {
    t.check(kernels_of(t) == kernels_of(t), "the same list again");
    const auto other = t.another();
    const hal_kernel* const* list = nullptr;
    uint64_t count = 0;
    t.ok(other->api().register_kernel(&list, &count), "before initialize");
    // Only then does it know what its devices lack.
    t.ok(other->initialize(), "initialize of another instance");
    t.ok(other->api().register_kernel(&list, &count), "after it");
    t.eq(kernels_of(t).size(), static_cast<size_t>(count), "kernels of another instance");
}

HAL_CASE("45079.T5.register_kernel.norm.no_duplicates", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel})
(Test& t) {
    std::set<std::string> seen;
    for (const hal_kernel* kernel : kernels_of(t)) {
        std::string key = std::string(kernel->op) + "/" + std::to_string(kernel->layout) + "/" +
                          std::to_string(kernel->dtype) + "/" + (kernel->arch == nullptr ? "" : kernel->arch) + "/" +
                          std::to_string(kernel->priority) + "/" + std::to_string(kernel->op_version_min) + "-" +
                          std::to_string(kernel->op_version_max);
        for (uint32_t i = 0; i < kernel->signature_count; ++i) {
            key += ":" + std::to_string(kernel->signature[i]);
        }
        t.check(seen.insert(key).second, "one kernel of key and rank " + key);
    }
}

HAL_CASE("45079.T5.register_kernel.err.null_out", clauses{"45079/T5.1"}, authority::A, needs{E::register_kernel})
(Test& t) {
    const hal_kernel* const* list = nullptr;
    uint64_t count = 0;
    t.eq(HAL_ERROR_INVALID_ARGUMENT, t.api.register_kernel(nullptr, &count), "status without a place for the list");
    t.eq(HAL_ERROR_INVALID_ARGUMENT, t.api.register_kernel(&list, nullptr), "status without a place for the count");
}

// A launch is an enqueue: behind a closed gate it returns, and the output keeps its poison.
HAL_CASE("45079.T5.register_kernel.order.on_given_stream", clauses{"45079/T5.1", "45280/5.3.1"}, authority::D,
         needs{E::register_kernel, memory_io(), a_gate, op("Add")})
(Test& t) {
    const hal_stream s = t.stream();
    Operator add(t, "Add", HAL_F32);
    add.input<float>({2, 3}, {1, 2, 3, 4, 5, 6});
    add.input<float>({2, 3}, {10, 20, 30, 40, 50, 60});
    add.output(HAL_F32, {2, 3});
    const Gate g = t.gate(s);
    t.ok(t.returns([&] { return add.launch(s); }, g));
    add.expect_unwritten(g);
    g.open();
    t.sync(s);
    add.expect_output<float>({11, 22, 33, 44, 55, 66});
}

// Nothing of the call is used after run has returned, but the memory of the tensors.
HAL_CASE("45079.T5.register_kernel.norm.call_is_copied", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel, memory_io(), a_gate, op("Add")})
(Test& t) {
    const hal_stream s = t.stream();
    Operator add(t, "Add", HAL_F32);
    add.input<float>({4}, {1, 2, 3, 4});
    add.input<float>({4}, {5, 6, 7, 8});
    add.output(HAL_F32, {4});
    const Gate g = t.gate(s);
    t.ok(add.launch(s));
    add.scramble_call();
    g.open();
    t.sync(s);
    add.expect_output<float>({6, 8, 10, 12});
    add.expect_inputs_unchanged();
}

HAL_CASE("45079.T5.register_kernel.err.bad_calls", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel, memory_io(), op("Add")})
(Test& t) {
    const auto refused = [&](const std::function<void(hal_kernel_call&)>& spoil, hal_status expected) {
        Operator add(t, "Add", HAL_F32);
        add.input<float>({4}, {1, 2, 3, 4});
        add.input<float>({4}, {5, 6, 7, 8});
        add.output(HAL_F32, {4});
        t.fails_any({expected, HAL_ERROR_INVALID_ARGUMENT}, [&] { return add.launch(nullptr, spoil); });
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        add.expect_unwritten();
    };
    refused([](hal_kernel_call& call) { call.input_count = 1; }, HAL_ERROR_INVALID_ARGUMENT);
    refused([](hal_kernel_call& call) { call.output_count = 0; }, HAL_ERROR_INVALID_ARGUMENT);
    refused([](hal_kernel_call& call) { call.inputs = nullptr; }, HAL_ERROR_INVALID_ARGUMENT);
    refused([](hal_kernel_call& call) { call.device = -1; }, HAL_ERROR_INVALID_DEVICE);
}

HAL_CASE("45079.T5.register_kernel.err.bad_tensors", clauses{"45079/T5.1", "45079/T6"}, authority::A,
         needs{E::register_kernel, memory_io(), op("Add")})
(Test& t) {
    const auto refused = [&](const std::function<void(hal_tensor&)>& spoil_output) {
        Operator add(t, "Add", HAL_F32);
        add.input<float>({4}, {1, 2, 3, 4});
        add.input<float>({4}, {5, 6, 7, 8});
        add.output(HAL_F32, {4});
        spoil_output(add.output_tensor());
        t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_UNSUPPORTED, HAL_ERROR_INVALID_HANDLE},
                    [&] { return add.launch(nullptr); });
    };
    static const int64_t wrong_shape[] = {5};
    static const int64_t negative[] = {-4};
    static const int64_t huge[] = {INT64_MAX};
    refused([](hal_tensor& out) { out.shape = wrong_shape; });
    refused([](hal_tensor& out) { out.shape = negative; });
    refused([](hal_tensor& out) { out.shape = huge; });
    refused([](hal_tensor& out) { out.ndim = -1; });
    refused([](hal_tensor& out) { out.ndim = HAL_MAX_RANK + 1; });
    refused([](hal_tensor& out) { out.dtype = HAL_I64; });
    refused([](hal_tensor& out) { out.data = 0; });
    refused([](hal_tensor& out) { out.storage_bytes = 8; });
    refused([](hal_tensor& out) { out.byte_offset = UINT64_MAX - 3; });
    refused([](hal_tensor& out) { out.flags = HAL_TENSOR_READ_ONLY; });
}

HAL_CASE("45079.T5.register_kernel.edge.zero_elements", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Add")})
(Test& t) {
    Operator add(t, "Add", HAL_F32);
    add.input<float>({0, 3}, {});
    add.input<float>({0, 3}, {});
    add.output(HAL_F32, {0, 3});
    t.ok(add.launch(nullptr));
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
}

}  // namespace
}  // namespace hal::conformance

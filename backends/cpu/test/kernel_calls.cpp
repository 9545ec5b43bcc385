// The rules of a launch: when it runs, what it refuses and in which words.
#include <semaphore>
#include <set>

#include "kernel_fixture.hpp"

using Catch::Matchers::Contains;

namespace hal::cpu::test {
namespace {

TEST_CASE("every operator is registered for this back end, with source, and no pair twice") {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    REQUIRE(kernel_table.register_kernel(nullptr, &kernels, &count) == HAL_OK);
    std::set<std::string> operators;
    std::set<std::pair<std::string, hal_dtype>> keys;
    for (const hal_kernel* kernel : std::span(kernels, count)) {
        CHECK(std::string_view(kernel->backend) == "cpu.ref");
        CHECK(std::string_view(kernel->file).find("kernels/") != std::string_view::npos);
        CHECK(keys.emplace(kernel->op, kernel->dtype).second);
        operators.insert(kernel->op);
    }
    CHECK(operators == std::set<std::string>{"Add", "Cast", "Copy", "Exp", "Fill", "MatMul", "Max", "Mul", "ReduceSum",
                                             "Relu", "Softmax", "Sub"});
}

TEST_CASE("a kernel runs in stream order, not inside the call") {
    Cpu cpu;
    Tensor<float> x(cpu, {1000});
    x.fill([] { return 1.0F; });
    std::binary_semaphore gate(0);
    REQUIRE(
        stream_table.stream_add_callback(
            cpu.self(), 0, cpu.stream(),
            [](void* data, hal_dev, hal_stream, hal_status) { static_cast<std::binary_semaphore*>(data)->acquire(); },
            &gate) == HAL_OK);
    const hal_attr seven = attribute("value", 7);
    REQUIRE(Launch(cpu, "Fill", {}, {x.get()}, {seven}).enqueue() == HAL_OK);
    {
        // Everything that the call lent is gone when the work runs.
        const Extents shape{1000};
        hal_tensor copy = *x.get();
        copy.shape = shape.data();
        copy.strides = nullptr;
        REQUIRE(Launch(cpu, "Add", {&copy, &copy}, {&copy}).enqueue() == HAL_OK);
        copy = {};
    }
    x.download();
    CHECK(x[{999}] == 1.0F);
    gate.release();
    REQUIRE(cpu.synchronize() == HAL_OK);
    x.download();
    CHECK(x[{0}] == 14.0F);
    CHECK(x[{999}] == 14.0F);
}

// The refusal of Add after one change to the call.
class Bad {
  public:
    Bad() : a_(cpu_, {2, 3}), b_(cpu_, {3}), out_(cpu_, {2, 3}) {}

    template <class Change>
    std::string text(hal_status expected, Change&& change) {
        hal_tensor a = *a_.get();
        hal_tensor b = *b_.get();
        hal_tensor out = *out_.get();
        Launch launch(cpu_, "Add", {&a, &b}, {&out});
        change(launch.call, a, b, out);
        CHECK(launch.enqueue() == expected);
        const std::string text = error_text();
        CHECK(cpu_.synchronize() == HAL_OK);  // nothing was enqueued that fails later
        return text;
    }

  private:
    Cpu cpu_;
    Tensor<float> a_, b_, out_;
};

TEST_CASE("a call that is not well formed is refused by name") {
    Bad bad;
    constexpr hal_status invalid = HAL_ERROR_INVALID_ARGUMENT;
    const int64_t shape[] = {2, 4, 1, 1, 1, 1, 1, 1, 1};
    const int64_t huge[] = {INT64_MAX / 2, 5};
    const int64_t negative[] = {2, -3};
    const int64_t zero_stride[] = {0, 1};
    const int64_t far[] = {1 << 20, 1};
    CHECK_THAT(bad.text(invalid, [](auto& c, auto&, auto&, auto&) { c.size = 8; }),
               Contains("hal_kernel_call.size is 8"));
    CHECK_THAT(bad.text(invalid, [](auto& c, auto&, auto&, auto&) { c.input_count = 1; }),
               Contains("Add: 1 inputs were given, expected 2"));
    CHECK_THAT(bad.text(invalid, [](auto& c, auto&, auto&, auto&) { c.output_count = 0; }), Contains("0 outputs"));
    CHECK_THAT(bad.text(invalid, [](auto& c, auto&, auto&, auto&) { c.inputs = nullptr; }),
               Contains("array of the call is NULL"));
    CHECK_THAT(bad.text(invalid,
                        [](auto& c, auto&, auto&, auto&) {
                            static const hal_tensor* const none[] = {nullptr, nullptr};
                            c.inputs = none;
                        }),
               Contains("Add: input 0: the tensor is NULL"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto& a, auto&, auto&) { a.struct_size = 48; }),
               Contains("input 0: struct_size is 48, expected at least"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto&, auto& b, auto&) { b.ndim = -1; }), Contains("input 1: ndim is -1"));
    CHECK_THAT(bad.text(HAL_ERROR_UNSUPPORTED, [&](auto&, auto&, auto& b, auto&) { b.shape = shape, b.ndim = 9; }),
               Contains("input 1: ndim is 9, expected 0 to 8"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto&, auto& b, auto&) { b.shape = nullptr; }),
               Contains("input 1: shape is NULL"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto&, auto& b, auto&) { b.dtype = HAL_I32; }),
               Contains("Add: input 1: dtype is i32, expected f32"));
    CHECK_THAT(bad.text(HAL_ERROR_UNSUPPORTED, [](auto&, auto&, auto& b, auto&) { b.dtype = HAL_F4E2M1; }),
               Contains("no whole number of bytes"));
    CHECK_THAT(bad.text(invalid, [&](auto&, auto& a, auto&, auto&) { a.shape = shape; }),
               Contains("shapes [2, 4] and [3] do not broadcast: 4 and 3 at axis -1"));
    CHECK_THAT(bad.text(invalid, [&](auto&, auto&, auto&, auto& out) { out.shape = shape; }),
               Contains("output 0: shape is [2, 4], expected [2, 3]"));
    CHECK_THAT(bad.text(invalid, [&](auto&, auto& a, auto&, auto&) { a.shape = negative; }),
               Contains("extent -3 at axis 1"));
    CHECK_THAT(bad.text(invalid, [&](auto&, auto& a, auto&, auto&) { a.shape = huge; }), Contains("overflows 64 bits"));
    CHECK_THAT(bad.text(invalid, [&](auto&, auto&, auto&, auto& out) { out.strides = zero_stride; }),
               Contains("output 0: stride 0 at axis 0"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto&, auto&, auto& out) { out.flags = HAL_TENSOR_READ_ONLY; }),
               Contains("output 0: it is read-only"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto& a, auto&, auto&) { a.device_id = 1; }),
               Contains("input 0: it is on device 1, the call is for device 0"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto& a, auto&, auto&) { a.storage_bytes = 20; }),
               Contains("lie at bytes 0 to 24 of a storage of 20 bytes"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto& a, auto&, auto&) { a.byte_offset = UINT64_MAX; }),
               Contains("byte_offset"));
    CHECK_THAT(bad.text(invalid, [&](auto&, auto& a, auto&, auto&) { a.storage_bytes = 0, a.strides = far; }),
               Contains("Add: input 0"));  // outside the allocation
    CHECK_THAT(bad.text(invalid, [](auto&, auto&, auto& b, auto&) { b.data = 0; }), Contains("Add: input 1"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto&, auto& b, auto&) { b.byte_offset = 2; }), Contains("not a multiple"));
    CHECK_THAT(bad.text(invalid, [](auto&, auto& a, auto&, auto& out) { out.data = a.data, out.byte_offset = 4; }),
               Contains("input 0: it overlaps output 0 without being the same tensor"));
    CHECK_THAT(bad.text(invalid,
                        [](auto& c, auto&, auto&, auto&) {
                            static const hal_attr extra = attribute("alpha", 1);
                            c.attributes = &extra;
                            c.attribute_count = 1;
                        }),
               Contains("unknown attribute \"alpha\"; expected none"));
    CHECK(bad.text(HAL_ERROR_INVALID_DEVICE, [](auto& c, auto& a, auto& b, auto& out) {
        c.device = a.device_id = b.device_id = out.device_id = 7;
    }) != "");
    CHECK(bad.text(HAL_ERROR_INVALID_HANDLE, [](auto& c, auto&, auto&, auto&) {
        c.stream = reinterpret_cast<hal_stream>(uintptr_t{0x1234});
    }) != "");
}

TEST_CASE("operators refuse what is against their own rules") {
    Cpu cpu;
    Tensor<float> x(cpu, {2, 3});
    Tensor<float> y(cpu, {2, 3});
    Tensor<float> scalar(cpu, {});
    Tensor<float> square(cpu, {3, 3});
    const auto refused = [&](hal_status expected, const char* op, std::vector<const hal_tensor*> in,
                             std::vector<const hal_tensor*> out, std::vector<hal_attr> attributes = {}) {
        CHECK(Launch(cpu, op, std::move(in), std::move(out), std::move(attributes)).query_and_run() == expected);
        return error_text();
    };
    constexpr hal_status invalid = HAL_ERROR_INVALID_ARGUMENT;
    const std::vector<int64_t> twice{1, -1};
    const std::vector<int64_t> outside{2};
    CHECK_THAT(refused(invalid, "Fill", {}, {x.get()}), Contains("Fill: attribute \"value\" is missing"));
    CHECK_THAT(refused(invalid, "Fill", {}, {x.get()}, {attribute("value", outside)}),
               Contains("attribute \"value\" has type 4, expected HAL_ATTR_F64 or HAL_ATTR_I64"));
    CHECK_THAT(refused(invalid, "ReduceSum", {x.get()}, {y.get()}, {attribute("axes", twice)}),
               Contains("named twice"));
    CHECK_THAT(refused(invalid, "ReduceSum", {x.get()}, {y.get()}, {attribute("axes", outside)}),
               Contains("axis 2 is outside [-2, 2)"));
    CHECK_THAT(refused(invalid, "ReduceSum", {x.get()}, {y.get()}, {attribute("axes", std::vector<int64_t>{0})}),
               Contains("output 0: shape is [2, 3], expected [1, 3]"));
    CHECK_THAT(refused(invalid, "Softmax", {scalar.get()}, {scalar.get()}), Contains("scalar"));
    CHECK_THAT(refused(invalid, "Softmax", {x.get()}, {y.get()}, {attribute("axis", -3)}),
               Contains("axis -3 is outside"));
    CHECK_THAT(refused(invalid, "MatMul", {x.get(), y.get()}, {square.get()}),
               Contains("input 0 has 3 columns, input 1 2 rows"));
    CHECK_THAT(refused(invalid, "MatMul", {scalar.get(), y.get()}, {square.get()}),
               Contains("input 0: it is a scalar"));
    CHECK_THAT(refused(invalid, "MatMul", {square.get(), square.get()}, {square.get()}),
               Contains("does not run in place"));
    CHECK_THAT(refused(invalid, "MatMul", {square.get(), square.get()}, {x.get()}, {attribute("transA", 2)}),
               Contains("\"transA\" is 2, expected 0 or 1"));
    CHECK_THAT(refused(HAL_ERROR_UNSUPPORTED, "Max", {x.get(), y.get(), x.get()}, {y.get()}),
               Contains("this kernel takes two"));
    hal_tensor complex = *y.get();
    complex.dtype = HAL_C64;
    complex.storage_bytes = 0;
    CHECK_THAT(refused(HAL_ERROR_UNSUPPORTED, "Cast", {x.get()}, {&complex}), Contains("cast to c64 is not offered"));
}

TEST_CASE("the workspace that the query asks for is checked and honoured") {
    Cpu cpu;
    Tensor<F16> a(cpu, {3, 4});
    Tensor<F16> b(cpu, {4, 5});
    Tensor<F16> out(cpu, {3, 5});
    Launch launch(cpu, "MatMul", {a.get(), b.get()}, {out.get()});
    uint64_t bytes = 0;
    REQUIRE(launch.call.kernel->query(&launch.call, &bytes) == HAL_OK);
    REQUIRE(bytes >= (12 + 20 + 15) * sizeof(float));
    Tensor<uint8_t> work(cpu, {static_cast<int64_t>(bytes) + 64});
    launch.call.workspace = work.get()->data;
    launch.call.workspace_bytes = bytes - 1;
    CHECK(launch.enqueue() == HAL_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(error_text(), Contains("MatMul: a workspace of " + std::to_string(bytes - 1)));
    launch.call.workspace_bytes = bytes;
    REQUIRE(launch.enqueue() == HAL_OK);
    REQUIRE(cpu.synchronize() == HAL_OK);
    work.download();
    for (size_t i = bytes; i < work.raw().size(); ++i) {
        REQUIRE(work.raw()[i] == 0xa5);
    }
    Tensor<float> dense(cpu, {4, 4});
    Tensor<float> result(cpu, {4, 4});
    Launch native(cpu, "MatMul", {dense.get(), dense.get()}, {result.get()});
    REQUIRE(native.call.kernel->query(&native.call, &bytes) == HAL_OK);
    CHECK(bytes == 0);
}

}  // namespace
}  // namespace hal::cpu::test

// Launch: which kernel it takes, and what the kernel gets.
#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "fake_loader.hpp"

namespace {
std::vector<std::string> ran;
hal_kernel_call last{};

template <int Id>
hal_status run(const hal_kernel_call* call) {
    ran.push_back("kernel " + std::to_string(Id));
    last = *call;
    return HAL_OK;
}
hal_status refuse(const hal_kernel_call*, uint64_t*) {
    Fake::get().set_error(HAL_ERROR_UNSUPPORTED, "rank 9 is too much");
    return HAL_ERROR_UNSUPPORTED;
}
hal_status want_workspace(const hal_kernel_call*, uint64_t* out_workspace_bytes) {
    *out_workspace_bytes = 4096;
    return HAL_OK;
}
hal_status break_down(const hal_kernel_call*, uint64_t*) {
    return HAL_ERROR_DEVICE_LOST;
}

hal_kernel kernel(hal_kernel_fn fn, hal_kernel_query_fn query = nullptr, uint32_t flags = 0) {
    hal_kernel made{};
    made.size = sizeof made;
    made.run = fn;
    made.query = query;
    made.flags = flags;
    return made;
}

struct Setup {
    Fake fake;
    hal::Stream stream = hal::Stream::default_of(fake.device());
    std::array<int64_t, 2> shape{2, 3};
    hal_tensor in = hal::dense_tensor(fake.device(), 0x1000, HAL_F32, shape);
    hal_tensor out = hal::dense_tensor(fake.device(), 0x2000, HAL_I64, shape);
    hal::Launch launch{stream, "Cast"};

    Setup() {
        ran.clear();
        last = {};
        launch.input(in).output(out);
    }
};
}  // namespace

TEST_CASE_METHOD(Setup, "a launch looks for the operator with all it knows and hands everything over", "[launch]") {
    const auto only = kernel(run<1>);
    fake.kernels = {&only};
    const std::array<int64_t, 2> axes{0, 1};
    launch.attribute("axis", 1)
        .attribute("scale", 0.5)
        .attribute("mode", "down")
        .attribute("axes", axes)
        .op_version(13);
    REQUIRE(launch.run().ok());

    CHECK(fake.key.op == std::string("Cast"));
    CHECK(fake.key.dtype == HAL_F32);
    CHECK(fake.key.layout == HAL_LAYOUT_ND);
    CHECK(fake.key.op_version == 13);
    CHECK(fake.arch == "fake-v1");
    CHECK(fake.signature == std::vector<hal_dtype>{HAL_F32, HAL_I64});

    CHECK(last.size == sizeof(hal_kernel_call));
    CHECK(last.instance == fake.head.instance);
    CHECK(last.kernel == &only);
    REQUIRE(last.input_count == 1);
    REQUIRE(last.output_count == 1);
    CHECK(last.inputs[0] == &in);
    CHECK(last.outputs[0] == &out);
    REQUIRE(last.attribute_count == 4);
    CHECK(last.attributes[0].value.i64 == 1);
    CHECK(last.attributes[1].value.f64 == 0.5);
    CHECK(last.attributes[2].count == 4);
    CHECK(last.attributes[3].value.i64_array[1] == 1);
    CHECK(last.workspace_bytes == 0);
}

TEST_CASE_METHOD(Setup, "a kernel that refuses gives way to the next", "[launch]") {
    const auto first = kernel(run<1>, refuse);
    const auto second = kernel(run<2>);
    fake.kernels = {&first, &second};
    CHECK(launch.run().ok());
    CHECK(launch.run().ok());
    CHECK(ran == std::vector<std::string>{"kernel 2", "kernel 2"});
    CHECK(launch.kernel() == &second);
}

TEST_CASE_METHOD(Setup, "when all refuse the last reason is told; without a match the near misses are", "[launch]") {
    const auto first = kernel(run<1>, refuse);
    fake.kernels = {&first};
    hal::Status status = launch.run();
    CHECK(status.code() == HAL_ERROR_UNSUPPORTED);
    CHECK(status.text() == std::string("rank 9 is too much"));
    fake.kernels.clear();
    status = launch.run();
    CHECK(status.code() == HAL_ERROR_NOT_FOUND);
    CHECK(status.text() == std::string("near misses"));
    CHECK(ran.empty());
}

TEST_CASE_METHOD(Setup, "an error of a query that is not UNSUPPORTED ends the search", "[launch]") {
    const auto first = kernel(run<1>, break_down);
    const auto second = kernel(run<2>);
    fake.kernels = {&first, &second};
    CHECK(launch.run().code() == HAL_ERROR_DEVICE_LOST);
    CHECK(ran.empty());
}

TEST_CASE_METHOD(Setup, "strided tensors go to a kernel that honours strides", "[launch]") {
    const auto dense = kernel(run<1>);
    const auto strided = kernel(run<2>, nullptr, HAL_KERNEL_STRIDED);
    fake.kernels = {&dense, &strided};
    std::array<int64_t, 2> strides{3, 1};
    in.strides = strides.data();
    CHECK(launch.run().ok());
    strides = {1, 2};
    CHECK(launch.prepare().ok());
    CHECK(launch.run().ok());
    CHECK(ran == std::vector<std::string>{"kernel 1", "kernel 2"});
    // The stride of an extent of 1 is free.
    shape = {1, 3};
    strides = {77, 1};
    CHECK(launch.prepare().ok());
    CHECK(launch.kernel() == &dense);
}

TEST_CASE_METHOD(Setup, "the workspace lives in stream order, or is the caller's", "[launch]") {
    const auto only = kernel(run<1>, want_workspace);
    fake.kernels = {&only};
    REQUIRE(launch.run().ok());
    CHECK(launch.workspace_bytes() == 4096);
    CHECK(last.workspace == 0x30000);
    CHECK(last.workspace_bytes == 4096);
    CHECK(fake.calls == std::vector<std::string>{"async_memory_allocate 4096", "async_memory_deallocate 196608"});

    CHECK(launch.workspace(0x5000, 100).run().code() == HAL_ERROR_BUFFER_TOO_SMALL);
    CHECK(launch.workspace(0x5000, 8192).run().ok());
    CHECK(last.workspace == 0x5000);
    CHECK(last.workspace_bytes == 8192);
    CHECK(fake.calls.size() == 2);
}

TEST_CASE_METHOD(Setup, "a failed allocation of the workspace runs nothing", "[launch]") {
    const auto only = kernel(run<1>, want_workspace);
    fake.kernels = {&only};
    fake.next = HAL_ERROR_UNSUPPORTED;
    CHECK_THAT(launch.run().text(), Catch::Contains("workspace()"));
    fake.next = HAL_ERROR_OUT_OF_DEVICE_MEMORY;
    CHECK(launch.run().text() == std::string("async_memory_allocate failed"));
    CHECK(ran.empty());
}

TEST_CASE_METHOD(Setup, "a launch without tensors is refused", "[launch]") {
    CHECK(hal::Launch(stream, "Cast").run().code() == HAL_ERROR_INVALID_ARGUMENT);
}

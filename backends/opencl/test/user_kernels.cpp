// Kernels of the user: a file that lists them, and launches.
#include "user_kernels.hpp"

#include <filesystem>
#include <fstream>

#include "driver.hpp"

using Catch::Matchers::Contains;

namespace hal::opencl::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* example = HAL_OPENCL_TEST_KERNELS "/kernels.json";

const hal_kernel* find(Driver& driver, std::string_view op) {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    REQUIRE(kernel_table.register_kernel(driver.self(), &kernels, &count) == HAL_OK);
    const auto* const end = kernels + count;
    const auto* const found = std::find_if(kernels, end, [&](const hal_kernel* one) { return op == one->op; });
    return found == end ? nullptr : *found;
}

// 64 floats in device memory, `skip` floats behind the begin of theirs.
class Floats {
  public:
    Floats(Driver& driver, float value, uint64_t skip = 0) : driver_(driver) {
        REQUIRE(memory_table.device_memory_allocate(driver.self(), 0, bytes, &base_) == HAL_OK);
        std::vector<float> values(bytes / sizeof(float), value);
        REQUIRE(memory_table.memory_copy_h2d(driver.self(), 0, base_, values.data(), bytes) == HAL_OK);
        tensor.data = base_ + skip * sizeof(float);
        tensor.ndim = 1;
        tensor.dtype = HAL_F32;
        tensor.shape = &count;
        tensor.struct_size = sizeof tensor;
    }
    ~Floats() { CHECK(memory_table.device_memory_deallocate(driver_.self(), 0, base_, bytes) == HAL_OK); }
    Floats(const Floats&) = delete;
    Floats& operator=(const Floats&) = delete;
    [[nodiscard]] std::vector<float> read() const {
        std::vector<float> values(static_cast<size_t>(count));
        CHECK(memory_table.memory_copy_d2h(driver_.self(), 0, values.data(), tensor.data, values.size() * 4) == HAL_OK);
        return values;
    }

    static constexpr int64_t count = 64;
    hal_tensor tensor{};

  private:
    static constexpr uint64_t bytes = 1024;
    Driver& driver_;
    hal_dptr base_ = 0;
};

struct ScaledSum {
    ScaledSum(Driver& driver, const Floats& a, const Floats& b, const Floats& output)
        : inputs{&a.tensor, &b.tensor}, outputs{&output.tensor} {
        attributes[0] = {"alpha", HAL_ATTR_F64, 0, 1, {.f64 = 2.0}};
        attributes[1] = {"steps", HAL_ATTR_I64, 0, 1, {.i64 = 3}};
        call.size = sizeof call;
        call.instance = driver.self();
        call.kernel = find(driver, "acme.ScaledSum");
        call.inputs = inputs;
        call.outputs = outputs;
        call.attributes = attributes;
        call.input_count = 2;
        call.output_count = 1;
        call.attribute_count = 2;
    }
    hal_status run() { return call.kernel->run(&call); }

    const hal_tensor* inputs[2];
    const hal_tensor* outputs[1];
    hal_attr attributes[2]{};
    hal_kernel_call call{};
};

}  // namespace

TEST_CASE("a kernel of the user is registered beside ours and runs in stream order, in both memory modes") {
    const std::string mode = GENERATE("buffer", "svm");
    INFO(mode);
    Driver driver(mode, {{"kernels", example}});
    if (!driver) {
        return;
    }
    CHECK(find(driver, "Add") != nullptr);
    const uint64_t skip = GENERATE(0, 128);  // 512 bytes: a multiple of what every device wants
    const Floats a(driver, 5, skip);
    const Floats b(driver, 7);
    const Floats output(driver, 0, skip);
    ScaledSum sum(driver, a, b, output);
    REQUIRE(sum.run() == HAL_OK);
    REQUIRE(stream_table.synchronize_stream(driver.self(), 0, nullptr, HAL_NO_TIMEOUT) == HAL_OK);
    CHECK(output.read() == std::vector<float>(64, 2.0F * (5.0F + 3.0F * 7.0F) + 1.0F));
}

TEST_CASE("a launch that does not fit is refused in words") {
    Driver driver("buffer", {{"kernels", example}});
    if (!driver) {
        return;
    }
    const Floats a(driver, 5);
    const Floats b(driver, 7);
    const Floats shifted(driver, 7, 1);
    Floats output(driver, 0);
    ScaledSum sum(driver, a, b, output);
    const char* expected = "";
    SECTION("an attribute is missing") {
        sum.call.attribute_count = 1;
        expected = "\"steps\" is missing";
    }
    SECTION("an unknown attribute") {
        sum.attributes[0].name = "beta";
        expected = "\"alpha\" is missing";
    }
    SECTION("another type") {
        output.tensor.dtype = HAL_I32;
        expected = "dtype is i32, expected f32";
    }
    SECTION("in place") {
        sum.outputs[0] = &a.tensor;
        expected = "does not run in place";
    }
    SECTION("it begins where no buffer can") {
        sum.inputs[1] = &shifted.tensor;
        expected = "4 bytes into its memory";
    }
    CHECK(sum.run() == HAL_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(Host::last_error(), Contains("acme.ScaledSum") && Contains(expected));
}

TEST_CASE("SPIR-V is offered where the device takes it") {
    Driver driver("buffer", {{"kernels", example}});
    if (!driver || driver.instance().device(0).info().has_spirv) {
        return;
    }
    const Floats a(driver, 5);
    const Floats b(driver, 7);
    const Floats output(driver, 0);
    ScaledSum sum(driver, a, b, output);
    sum.call.kernel = find(driver, "acme.Binary");
    sum.call.input_count = 1;
    sum.call.attribute_count = 0;
    uint64_t workspace = 0;
    CHECK(sum.call.kernel->query(&sum.call, &workspace) == HAL_ERROR_UNSUPPORTED);
    CHECK(sum.run() == HAL_ERROR_UNSUPPORTED);
    CHECK_THAT(Host::last_error(), Contains("takes no SPIR-V"));
}

TEST_CASE("a file that is wrong is refused with the place and what is expected") {
    struct Row {
        const char* text;
        const char* place;
    };
    const Row row = GENERATE(
        Row{"", "cannot be read"}, Row{"{", "parse error"}, Row{"[]", "expected an object"},
        Row{R"({"kernels": []})", "/schema_version: is missing"},
        Row{R"({"schema_version": "2.0", "kernels": []})", "/schema_version: expected 1.x"},
        Row{R"({"schema_version": "1.0", "kernels": {}})", "/kernels: expected an array"},
        Row{R"({"schema_version": "1.0", "kernels": [], "more": 1})", "/more: unknown key"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "A", "dtype": "f32", "entry": "e"}]})",
            "/kernels/0: expected either source or spirv"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "", "dtype": "f32", "entry": "e", "source": "k.cl"}]})",
            "/kernels/0/op: expected a string"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "A", "dtype": "f33", "entry": "e", "source": "k.cl"}]})",
            "/kernels/0/dtype: \"f33\" is no type"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "A", "dtype": "f32", "entry": "e", "source": "no.cl"}]})",
            "no.cl cannot be read"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "A", "dtype": "f32", "entry": "e", "source": "k.cl",
               "inputs": 17}]})",
            "/kernels/0/inputs: expected a number from 0 to 16"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "A", "dtype": "f32", "entry": "e", "source": "k.cl",
               "outputs": 0}]})",
            "/kernels/0/outputs: expected at least 1"},
        Row{R"({"schema_version": "1.0", "kernels": [{"op": "A", "dtype": "f32", "entry": "e", "source": "k.cl",
               "attributes": [{"name": "x", "passed_as": "f16"}]}]})",
            "/kernels/0/attributes/0/passed_as: expected f32, f64 or i64"});
    INFO(row.text);
    std::string folder = (fs::temp_directory_path() / "hal-kernels-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    std::ofstream(folder + "/k.json") << row.text;
    std::ofstream(folder + "/k.cl") << "kernel void e() {}";
    std::string text;
    CHECK(status_of([&] { UserKernels(folder + "/k.json", {}); }, &text) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK_THAT(text, Contains("option kernels of opencl") && Contains(folder) && Contains(row.place));
    fs::remove_all(folder);
}

}  // namespace hal::opencl::test

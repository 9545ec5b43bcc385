// REGISTER_KERNEL from C and from C++ in one image: one list, every field as written, nothing run at load.
#include <catch2/catch.hpp>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "hal/sdk.hpp"
#include "register_c.h"

namespace {

struct Instance {
    [[nodiscard]] const hal_host* host() const noexcept { return nullptr; }
};

template <class T>
hal_status add(Instance&, const hal_kernel_call&) {
    return HAL_OK;
}

// clang-format off
constexpr uint32_t line_of_add = __LINE__ + 1;
REGISTER_KERNEL("Add", "acme.npu", HAL_LAYOUT_ANY, HAL_F32, hal::sdk::kernel<add<float>>);
#define REGISTER_ADD(dtype, T) \
    REGISTER_KERNEL_WITH("Add", "acme.npu", HAL_LAYOUT_ANY, dtype, (hal::sdk::kernel<add<T>>), .flags = HAL_KERNEL_IN_PLACE);
REGISTER_ADD(HAL_F64, double) REGISTER_ADD(HAL_I32, int32_t)
    // clang-format on

    namespace inner {
    REGISTER_KERNEL("\xe5\x8a\xa0", "acme.npu", HAL_LAYOUT_VENDOR_FIRST, HAL_DTYPE_ANY, hal::sdk::kernel<add<char>>);
}  // namespace inner

using Key = std::pair<std::string, hal_dtype>;

std::map<Key, const hal_kernel*> registered() {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    REQUIRE(hal_registered_kernels(nullptr, &kernels, &count) == HAL_OK);
    std::map<Key, const hal_kernel*> map;
    for (const hal_kernel* kernel : std::span(kernels, count)) {
        REQUIRE(map.emplace(Key(kernel->op, kernel->dtype), kernel).second);
    }
    return map;
}

}  // namespace

TEST_CASE("both languages fill one list") {
    const auto kernels = registered();
    CHECK(kernels.size() == 8);
    const hal_kernel* const* from_c = nullptr;
    const hal_kernel* const* from_cpp = nullptr;
    uint64_t count = 0;
    REQUIRE(c_registered(&from_c, &count) == HAL_OK);
    CHECK(count == 8);
    REQUIRE(hal_registered_kernels(nullptr, &from_cpp, &count) == HAL_OK);
    CHECK(from_c == from_cpp);
    for (const auto& [key, kernel] : kernels) {
        CHECK(kernel->size == sizeof(hal_kernel));
        CHECK(std::string_view(kernel->backend) == "acme.npu");
    }
}

TEST_CASE("the five parameters of table 6, and the source, are as written") {
    const auto kernels = registered();
    const hal_kernel& c = *kernels.at({"CRelu", HAL_F32});
    CHECK(c.layout == HAL_LAYOUT_NHWC);
    CHECK(c.run == c_relu());
    CHECK(c.run(nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(c.line == c_relu_line());
    CHECK(std::string_view(c.file).ends_with("register_c.c"));

    const hal_kernel& cpp = *kernels.at({"Add", HAL_F32});
    CHECK(cpp.layout == HAL_LAYOUT_ANY);
    CHECK(cpp.run == hal::sdk::kernel<add<float>>);
    CHECK(cpp.line == line_of_add);
    CHECK(std::string_view(cpp.file).ends_with("register.cpp"));
    CHECK(kernels.at({"\xe5\x8a\xa0", HAL_DTYPE_ANY})->layout == HAL_LAYOUT_VENDOR_FIRST);
}

TEST_CASE("later fields are as given, and zero where nothing was given") {
    const auto kernels = registered();
    const hal_kernel& plain = *kernels.at({"CRelu", HAL_F32});
    CHECK((plain.flags == 0 && plain.priority == 0 && plain.query == nullptr && plain.infer == nullptr));
    CHECK((plain.arch == nullptr && plain.signature == nullptr && plain.signature_count == 0));
    CHECK((plain.op_version_min == 0 && plain.op_version_max == 0 && plain.user_data == 0));

    const hal_kernel& conv = *kernels.at({"CConv", HAL_F16});
    uint64_t workspace = 0;
    REQUIRE(conv.query(nullptr, &workspace) == HAL_OK);
    CHECK(workspace == 4096);
    CHECK((conv.flags == HAL_KERNEL_STRIDED && conv.priority == -3 && conv.user_data == 77));
    CHECK(std::string_view(conv.arch) == "v2");
    REQUIRE(conv.signature_count == 3);
    CHECK((conv.signature[0] == HAL_F16 && conv.signature[1] == HAL_DTYPE_ANY && conv.signature[2] == HAL_F32));
    CHECK((conv.op_version_min == 1 && conv.op_version_max == 13));
}

TEST_CASE("several registrations on one line, from one macro") {
    const auto kernels = registered();
    CHECK(kernels.contains({"CTwo", HAL_I8}));
    CHECK(kernels.contains({"CTwo", HAL_U8}));
    CHECK(kernels.at({"Add", HAL_F64})->run == hal::sdk::kernel<add<double>>);
    CHECK(kernels.at({"Add", HAL_I32})->run == hal::sdk::kernel<add<int32_t>>);
    CHECK(kernels.at({"Add", HAL_I32})->flags == HAL_KERNEL_IN_PLACE);
}

TEST_CASE("the list refuses outputs that are NULL") {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 7;
    CHECK(hal_registered_kernels(nullptr, nullptr, &count) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(hal_registered_kernels(nullptr, &kernels, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(count == 7);
}

// What add refuses, and what a miss says.
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <string>

#include "kernel_fixture.hpp"
#include "registry.hpp"

using Catch::Matchers::Contains;
using hal::loader::Registry;
using hal::loader::test::make_kernel;
using hal::loader::test::make_key;

namespace {

std::string add_one(Registry& registry, const hal_kernel& kernel) {
    const hal_kernel* const pointer = &kernel;
    return registry.add("acme.npu", {&pointer, 1});
}

// The refusal of a kernel after one change; the registry must stay empty.
template <class Change>
std::string refusal(Change change) {
    hal_kernel kernel = make_kernel("Relu", HAL_F32, HAL_LAYOUT_ANY, 12);
    change(kernel);
    const hal_kernel good = make_kernel("Good");
    const hal_kernel* const both[] = {&good, &kernel};
    Registry registry;
    const std::string text = registry.add("acme.npu", both);
    CHECK(registry.list().empty());
    return text;
}

}  // namespace

TEST_CASE("a kernel that is not well formed is refused with its source") {
    const std::string long_name(256, 'x');
    CHECK_THAT(refusal([](auto& k) { k.op = nullptr; }), Contains("acme.cpp:12") && Contains("name is NULL"));
    CHECK_THAT(refusal([](auto& k) { k.op = ""; }), Contains("acme.cpp:12") && Contains("empty"));
    CHECK_THAT(refusal([&](auto& k) { k.op = long_name.c_str(); }), Contains("longer than 255 bytes"));
    CHECK_THAT(refusal([](auto& k) { k.backend = "other"; }),
               Contains("\"Relu\"") && Contains("acme.cpp:12") && Contains("\"other\"") && Contains("\"acme.npu\""));
    CHECK_THAT(refusal([](auto& k) { k.backend = nullptr; }), Contains("backend name is NULL"));
    CHECK_THAT(refusal([](auto& k) { k.run = nullptr; }), Contains("function is NULL"));
    CHECK_THAT(refusal([](auto& k) { k.layout = 12; }), Contains("layout 12"));
    CHECK_THAT(refusal([](auto& k) { k.layout = 0x10000; }), Contains("vendor range"));
    CHECK_THAT(refusal([](auto& k) { k.signature_count = 2; }), Contains("signature is NULL but signature_count is 2"));
    const hal_dtype f32 = HAL_F32;
    CHECK_THAT(refusal([&](auto& k) { k.signature = &f32; }), Contains("signature_count is 0"));
    CHECK_THAT(refusal([](auto& k) { k.op_version_min = 3; }), Contains("3 is above op_version_max 0"));
    CHECK_THAT(refusal([](auto& k) { k.size = 0; }), Contains("size 0") && Contains("sizeof(hal_kernel)"));
    CHECK_THAT(refusal([](auto& k) { k.size = offsetof(hal_kernel, flags) - 1; }), Contains("size 47"));
    CHECK_THAT(refusal([](auto& k) { k.size = 1U << 20; }), Contains("size 1048576"));
    CHECK_THAT(refusal([](auto& k) { k.file = nullptr, k.run = nullptr; }), Contains("unknown file:12"));

    const hal_kernel* const none = nullptr;
    Registry registry;
    CHECK_THAT(registry.add("acme.npu", {&none, 1}), Contains("NULL"));
}

TEST_CASE("operator names are UTF-8") {
    for (const char* good :
         {"x", "\xc3\xa9", "\xe7\xae\x97\xe5\xad\x90", "\xf0\x9f\x92\xa1", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
        Registry registry;
        const hal_kernel kernel = make_kernel(good);
        CHECK(add_one(registry, kernel) == "");
        CHECK(registry.find(make_key(good), nullptr) == &kernel);
    }
    for (const char* bad : {"\x80", "a\xff", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe7\xae", "\xe0\x80\x80", "\xed\xa0\x80",
                            "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe7\xae\x41"}) {
        CHECK_THAT(refusal([&](auto& k) { k.op = bad; }), Contains("not valid UTF-8"));
    }
    const std::string longest(255, 'y');
    Registry registry;
    CHECK(add_one(registry, make_kernel(longest.c_str())) == "");
}

TEST_CASE("the kernel of an older plug-in reads as zeros beyond its size, of a newer one is fine") {
    // On the heap and no longer than its size: the sanitizer sees a read too far.
    constexpr size_t short_size = offsetof(hal_kernel, flags);
    const auto bytes = std::make_unique<unsigned char[]>(short_size);
    hal_kernel shorter = make_kernel("Short");
    shorter.size = short_size;
    std::memcpy(bytes.get(), &shorter, short_size);
    struct Longer {
        hal_kernel kernel;
        uint64_t more[4];
    } longer{make_kernel("Long"), {1, 2, 3, 4}};
    longer.kernel.size = sizeof longer;

    Registry registry;
    const hal_kernel* const both[] = {reinterpret_cast<const hal_kernel*>(bytes.get()), &longer.kernel};
    REQUIRE(registry.add("acme.npu", both) == "");
    CHECK(registry.find(make_key("Long"), nullptr) == &longer.kernel);
    const hal_kernel* found = registry.find(make_key("Short"), nullptr);
    REQUIRE(found != nullptr);
    CHECK(found->size == sizeof(hal_kernel));
    CHECK(found->run == shorter.run);
    CHECK((found->query == nullptr && found->priority == 0 && found->user_data == 0));
}

TEST_CASE("two kernels of equal key and rank are refused with both sources") {
    const hal_kernel first = make_kernel("Relu", HAL_F32, HAL_LAYOUT_ANY, 10);
    hal_kernel second = make_kernel("Relu", HAL_F32, HAL_LAYOUT_ANY, 20);
    second.file = "late.cpp";
    const std::string sources = "at acme.cpp:10 and at late.cpp:20";
    SECTION("in one batch: none of it is added") {
        const hal_kernel other = make_kernel("Other");
        const hal_kernel* const batch[] = {&other, &first, &second};
        Registry registry;
        CHECK_THAT(registry.add("acme.npu", batch), Contains("\"Relu\"") && Contains(sources));
        CHECK(registry.list().empty());
    }
    SECTION("late: the first stays") {
        Registry registry;
        REQUIRE(add_one(registry, first) == "");
        CHECK_THAT(add_one(registry, second), Contains("\"Relu\"") && Contains(sources));
        CHECK(registry.find(make_key("Relu"), nullptr) == &first);
        CHECK(registry.list().size() == 1);
        second.priority = 1;
        CHECK(add_one(registry, second) == "");
        CHECK(registry.find(make_key("Relu"), nullptr) == &second);
    }
}

TEST_CASE("a miss says what to change") {
    const hal_dtype signature[] = {HAL_F32, HAL_DTYPE_ANY};
    const hal_kernel matmul = make_kernel("MatMul", HAL_F32, HAL_LAYOUT_ANY, 1);
    const hal_kernel nhwc = make_kernel("Conv", HAL_F16, HAL_LAYOUT_NHWC, 2);
    hal_kernel cast = make_kernel("Cast", HAL_F32, HAL_LAYOUT_ANY, 3);
    cast.signature = signature;
    cast.signature_count = 2;
    cast.arch = "v9";
    cast.op_version_min = 13;
    cast.op_version_max = 18;
    Registry registry;
    const hal_kernel* const kernels[] = {&matmul, &nhwc, &cast};
    REQUIRE(registry.add("acme.npu", kernels) == "");

    CHECK_THAT(registry.explain_miss(make_key("Matmull")), Contains("\"Matmull\"") && Contains("did you mean MatMul"));
    CHECK_THAT(registry.explain_miss(make_key("Xyzzyplugh")), Contains("Xyzzyplugh") && !Contains("did you mean"));
    CHECK_THAT(registry.explain_miss(make_key("bad\x1b[31m")), !Contains("\x1b"));
    CHECK_THAT(registry.explain_miss(make_key(nullptr)), Contains("NULL"));
    CHECK_THAT(registry.explain_miss(make_key("Conv", HAL_F16, HAL_LAYOUT_NCHW)),
               Contains("dtype f16, layout NCHW") && Contains("ask for layout NHWC (acme.cpp:2)"));
    CHECK_THAT(registry.explain_miss(make_key("Conv", HAL_I8, HAL_LAYOUT_NHWC)),
               Contains("ask for dtype f16 (acme.cpp:2)"));
    auto key = make_key("Cast");
    key.op_version = 12;
    CHECK_THAT(registry.explain_miss(key), Contains("signature (f32, any), arch v9, op version 13..18 (acme.cpp:3)") &&
                                               Contains("signature not given, arch not given, op version 12"));
    CHECK_THAT(registry.explain_miss(make_key("MatMul")), Contains("no further kernel"));
}

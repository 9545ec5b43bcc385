// Which kernel a key finds.
#include "registry.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>

#include "kernel_fixture.hpp"

using hal::loader::Registry;
using hal::loader::test::make_kernel;
using hal::loader::test::make_key;

namespace {

std::vector<const hal_kernel*> every_match(const Registry& registry, const hal_kernel_key& key) {
    std::vector<const hal_kernel*> found;
    for (const auto* kernel = registry.find(key, nullptr); kernel != nullptr; kernel = registry.find(key, kernel)) {
        found.push_back(kernel);
    }
    return found;
}

constexpr std::array<hal_dtype, 3> all_f32{HAL_F32, HAL_F32, HAL_F32};
constexpr std::array<hal_dtype, 3> middle_any{HAL_F32, HAL_DTYPE_ANY, HAL_F32};
constexpr std::array<hal_dtype, 3> first_any{HAL_DTYPE_ANY, HAL_F32, HAL_F32};
constexpr std::array<hal_dtype, 3> to_i64{HAL_F32, HAL_F32, HAL_I64};

hal_kernel with_signature(hal_kernel kernel, const std::array<hal_dtype, 3>& signature) {
    kernel.signature = signature.data();
    kernel.signature_count = 3;
    return kernel;
}

// Every kind of kernel, best match first for the key of full_key().
std::vector<hal_kernel> ranking_table() {
    std::vector<hal_kernel> kernels;
    const auto add = [&](hal_kernel kernel) {
        kernel.line = static_cast<uint32_t>(kernels.size() + 1);
        kernels.push_back(kernel);
    };
    const auto changed = [](hal_kernel kernel, auto change) {
        change(kernel);
        return kernel;
    };
    const hal_kernel exact = make_kernel("Conv", HAL_F32, HAL_LAYOUT_NHWC);
    const hal_kernel any_layout = make_kernel("Conv", HAL_F32);
    add(with_signature(exact, all_f32));
    add(with_signature(exact, middle_any));  // exact at the first place
    add(with_signature(exact, first_any));
    add(changed(exact, [](auto& k) { k.arch = "v2", k.priority = -5; }));
    add(changed(exact, [](auto& k) { k.op_version_min = 11, k.op_version_max = 20; }));
    add(changed(exact, [](auto& k) { k.op_version_min = 1, k.op_version_max = 20, k.priority = 9; }));
    add(changed(exact, [](auto& k) { k.priority = 3; }));
    add(exact);
    add(with_signature(changed(any_layout, [](auto& k) { k.priority = 100; }), all_f32));
    add(changed(any_layout, [](auto& k) { k.priority = 100; }));
    add(any_layout);
    add(changed(make_kernel("Conv", HAL_DTYPE_ANY, HAL_LAYOUT_NHWC), [](auto& k) { k.priority = 1000; }));
    add(make_kernel("Conv", HAL_DTYPE_ANY));
    return kernels;
}

// Kernels that full_key() must not find.
std::vector<hal_kernel> strangers() {
    std::vector<hal_kernel> kernels{make_kernel("Conv", HAL_F16, HAL_LAYOUT_NHWC),
                                    make_kernel("Conv", HAL_F32, HAL_LAYOUT_NCHW),
                                    with_signature(make_kernel("Conv", HAL_F32, HAL_LAYOUT_NHWC), to_i64),
                                    make_kernel("conv", HAL_F32, HAL_LAYOUT_NHWC)};
    kernels.push_back(make_kernel("Conv", HAL_F32, HAL_LAYOUT_NHWC));
    kernels.back().arch = "v3";
    kernels.push_back(make_kernel("Conv", HAL_F32, HAL_LAYOUT_NHWC));
    kernels.back().op_version_min = 12;
    kernels.back().op_version_max = 20;
    return kernels;
}

hal_kernel_key full_key() {
    hal_kernel_key key = make_key("Conv", HAL_F32, HAL_LAYOUT_NHWC);
    key.signature = all_f32.data();
    key.signature_count = 3;
    key.arch = "v2";
    key.op_version = 11;
    return key;
}

}  // namespace

TEST_CASE("matches come best first, whatever the order of registration") {
    const auto table = ranking_table();
    const auto others = strangers();
    std::vector<const hal_kernel*> kernels;
    std::vector<const hal_kernel*> expected;
    for (const auto& kernel : table) {
        kernels.push_back(&kernel);
        expected.push_back(&kernel);
    }
    for (const auto& kernel : others) {
        kernels.push_back(&kernel);
    }
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        std::shuffle(kernels.begin(), kernels.end(), random);
        Registry registry;
        if (round % 2 == 0) {
            REQUIRE(registry.add("acme.npu", kernels) == "");
        } else {
            for (const auto& kernel : kernels) {
                REQUIRE(registry.add("acme.npu", {&kernel, 1}) == "");
            }
        }
        CHECK(every_match(registry, full_key()) == expected);
    }
}

TEST_CASE("what a key leaves open finds only kernels that leave it open") {
    const auto table = ranking_table();
    Registry registry;
    for (const auto& kernel : table) {
        const hal_kernel* const pointer = &kernel;
        REQUIRE(registry.add("acme.npu", {&pointer, 1}) == "");
    }
    const auto lines = [&](const hal_kernel_key& key) {
        std::vector<uint32_t> found;
        for (const auto* kernel : every_match(registry, key)) {
            found.push_back(kernel->line);
        }
        return found;
    };
    SECTION("the layout") {
        CHECK(lines(make_key("Conv", HAL_F32)) == std::vector<uint32_t>{10, 11, 13});
    }
    SECTION("the dtype") {
        CHECK(lines(make_key("Conv", HAL_DTYPE_ANY, HAL_LAYOUT_NHWC)) == std::vector<uint32_t>{12, 13});
    }
    SECTION("the signature") {
        auto key = full_key();
        key.signature = nullptr;
        key.signature_count = 0;
        CHECK(lines(key) == std::vector<uint32_t>{4, 5, 6, 7, 8, 10, 11, 12, 13});
    }
    SECTION("the arch") {
        auto key = full_key();
        key.arch = nullptr;
        CHECK(lines(key) == std::vector<uint32_t>{1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    }
    SECTION("but op version 0 means whichever") {
        auto key = full_key();
        key.op_version = 0;
        CHECK(lines(key) == std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
        key.op_version = 21;
        CHECK(lines(key) == std::vector<uint32_t>{1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13});
    }
    SECTION("a kernel that is not in the list has no successor") {
        const hal_kernel foreign = make_kernel("Conv");
        CHECK(registry.find(full_key(), &foreign) == nullptr);
    }
}

TEST_CASE("names of every length are told apart") {
    // 255 bytes, and names that differ in one byte anywhere.
    std::deque<std::string> names;
    std::deque<hal_kernel> kernels;
    std::vector<const hal_kernel*> pointers;
    for (size_t length = 1; length <= 255; length += length < 40 ? 1 : 43) {
        for (size_t place = 0; place < length; ++place) {
            std::string name(length, 'a');
            name[place] = 'b';
            names.push_back(name);
        }
        names.emplace_back(length, 'a');
    }
    for (const auto& name : names) {
        kernels.push_back(make_kernel(name.c_str()));
        pointers.push_back(&kernels.back());
    }
    Registry registry;
    REQUIRE(registry.add("acme.npu", pointers) == "");
    for (const auto& kernel : kernels) {
        const std::string copy = kernel.op;  // the caller's own pointer
        REQUIRE(registry.find(make_key(copy.c_str()), nullptr) == &kernel);
    }
    CHECK(registry.find(make_key(""), nullptr) == nullptr);
    CHECK(registry.find(make_key(nullptr), nullptr) == nullptr);
    CHECK(registry.find(make_key(std::string(256, 'a').c_str()), nullptr) == nullptr);
}

TEST_CASE("3,000 kernels are all found, listed in order, and nothing else is") {
    std::deque<std::string> names;
    std::deque<hal_kernel> kernels;
    std::vector<const hal_kernel*> pointers;
    constexpr std::array<hal_dtype, 5> dtypes{HAL_F32, HAL_F16, HAL_I8, HAL_BOOL, HAL_DTYPE_ANY};
    constexpr std::array<hal_layout, 3> layouts{HAL_LAYOUT_ANY, HAL_LAYOUT_NCHW, HAL_LAYOUT_VENDOR_FIRST};
    for (int i = 0; i < 200; ++i) {
        names.push_back("Operator" + std::to_string(i * 7919 % 200));
        for (const auto dtype : dtypes) {
            for (const auto layout : layouts) {
                kernels.push_back(
                    make_kernel(names.back().c_str(), dtype, layout, static_cast<uint32_t>(kernels.size())));
                pointers.push_back(&kernels.back());
            }
        }
    }
    Registry registry;
    REQUIRE(registry.add("acme.npu", pointers) == "");
    REQUIRE(pointers.size() == 3000);
    for (const auto& kernel : kernels) {
        REQUIRE(registry.find(make_key(kernel.op, kernel.dtype, kernel.layout), nullptr) == &kernel);
    }
    CHECK(registry.find(make_key("Operator200"), nullptr) == nullptr);
    const auto* any = registry.find(make_key("Operator3", HAL_F64, HAL_LAYOUT_NHWC), nullptr);
    REQUIRE(any != nullptr);
    CHECK((any->dtype == HAL_DTYPE_ANY && any->layout == HAL_LAYOUT_ANY));

    const auto list = registry.list();
    REQUIRE(list.size() == 3000);
    CHECK(std::is_sorted(list.begin(), list.end(), [](const auto* a, const auto* b) {
        return std::string_view(a->op) < std::string_view(b->op);
    }));
    CHECK(std::is_permutation(list.begin(), list.end(), pointers.begin()));
}

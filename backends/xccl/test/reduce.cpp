// Reductions against a plain loop that is written for each type anew.
#include "reduce.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "kernels/numbers.hpp"

namespace hal::xccl {
namespace {

template <class T>
std::vector<T> reduced(hal_dtype dtype, hal_reduce_op op, const std::vector<std::vector<T>>& inputs,
                       const std::vector<T>& scalars = {}, bool stream = false) {
    std::vector<T> first(inputs[0].size());
    std::vector<T> second(inputs[0].size());
    std::vector<const std::byte*> sources;
    for (const auto& input : inputs) {
        sources.push_back(reinterpret_cast<const std::byte*>(input.data()));
    }
    std::byte* const targets[] = {reinterpret_cast<std::byte*>(first.data()),
                                  reinterpret_cast<std::byte*>(second.data())};
    reduce({dtype, op, sources, targets, first.size(), reinterpret_cast<const std::byte*>(scalars.data()), stream});
    CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(T)) == 0);
    return first;
}

TEMPLATE_TEST_CASE("integers wrap and averages truncate toward zero", "", int8_t, int16_t, int32_t, int64_t, uint8_t,
                   uint16_t, uint32_t, uint64_t) {
    using T = TestType;
    constexpr hal_dtype dtype = shared::dtype_of<T>;
    std::mt19937_64 random(7);
    const size_t count = GENERATE(size_t{1}, size_t{1023}, size_t{1025}, size_t{5000});
    std::vector<std::vector<T>> in(3, std::vector<T>(count));
    for (auto& input : in) {
        for (T& value : input) {
            value = static_cast<T>(random());
        }
    }
    const auto sum = reduced(dtype, HAL_REDUCE_SUM, in);
    const auto product = reduced(dtype, HAL_REDUCE_PROD, in);
    const auto most = reduced(dtype, HAL_REDUCE_MAX, in, {}, true);
    const auto least = reduced(dtype, HAL_REDUCE_MIN, in);
    const auto average = reduced(dtype, HAL_REDUCE_AVG, in);
    const auto bits = reduced(dtype, HAL_REDUCE_BXOR, in);
    for (size_t i = 0; i < count; ++i) {
        const auto a = in[0][i];
        const auto b = in[1][i];
        const auto c = in[2][i];
        const auto u = [](T value) { return static_cast<uint64_t>(value); };
        __extension__ using Wide = __int128;
        if (sum[i] != static_cast<T>(u(a) + u(b) + u(c)) || product[i] != static_cast<T>(u(a) * u(b) * u(c)) ||
            most[i] != std::max({a, b, c}) || least[i] != std::min({a, b, c}) ||
            average[i] != static_cast<T>((Wide{a} + Wide{b} + Wide{c}) / 3) || bits[i] != static_cast<T>(a ^ b ^ c)) {
            FAIL("element " << i);
        }
    }
}

TEST_CASE("halves are added in f32 and rounded once") {
    // 2048 + 1 + 1: in f16 each sum would be 2048.
    const auto half = [](float value) { return shared::narrow(value, std::type_identity<shared::F16>()); };
    const std::vector<std::vector<shared::F16>> in{{half(2048)}, {half(1)}, {half(1)}};
    CHECK(widen(reduced(HAL_F16, HAL_REDUCE_SUM, in)[0]) == 2050.0F);
    CHECK(widen(reduced(HAL_F16, HAL_REDUCE_AVG, in)[0]) == widen(half(2050.0F / 3)));
}

TEST_CASE("NaN is not lost by max and min, wherever it comes") {
    const float nan = std::nanf("");
    for (const hal_reduce_op op : {HAL_REDUCE_MAX, HAL_REDUCE_MIN}) {
        CHECK(std::isnan(reduced<float>(HAL_F32, op, {{nan}, {1}, {2}})[0]));
        CHECK(std::isnan(reduced<float>(HAL_F32, op, {{1}, {2}, {nan}})[0]));
    }
}

TEST_CASE("each rank's data are multiplied by its own scalar") {
    const std::vector<std::vector<double>> in{{1, 2}, {10, 20}};
    CHECK(reduced<double>(HAL_F64, HAL_REDUCE_PREMUL_SUM, in, {2, 0.5}) == std::vector<double>{7, 14});
}

TEST_CASE("what is offered: numbers have arithmetic, integers and truths have bits") {
    CHECK(can_reduce(HAL_F8E4M3FN, HAL_REDUCE_SUM));
    CHECK(can_reduce(HAL_BF16, HAL_REDUCE_AVG));
    CHECK_FALSE(can_reduce(HAL_F32, HAL_REDUCE_BAND));
    CHECK(can_reduce(HAL_BOOL, HAL_REDUCE_BOR));
    CHECK_FALSE(can_reduce(HAL_BOOL, HAL_REDUCE_SUM));
    CHECK_FALSE(can_reduce(HAL_F4E2M1, HAL_REDUCE_SUM));
    CHECK_FALSE(can_reduce(HAL_F32, 0));
    CHECK_FALSE(can_reduce(HAL_F32, HAL_REDUCE_BXOR + 1));
}

TEST_CASE("a copy past the caches copies every byte and no more") {
    std::vector<std::byte> from(5000);
    for (size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<std::byte>(i * 7);
    }
    for (const size_t offset : {0U, 1U, 15U}) {
        for (const size_t bytes : {0U, 1U, 63U, 64U, 100U, 4096U, 4177U}) {
            std::vector<std::byte> to(from.size(), std::byte{0x55});
            copy(to.data() + offset, from.data() + 3, bytes, true);
            CHECK(std::memcmp(to.data() + offset, from.data() + 3, bytes) == 0);
            CHECK((offset == 0 || to[offset - 1] == std::byte{0x55}));
            CHECK(to[offset + bytes] == std::byte{0x55});
        }
    }
}

}  // namespace
}  // namespace hal::xccl

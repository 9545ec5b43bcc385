// Conversions of numbers, and e^x, against exact values.
#include <array>
#include <limits>

#include "../kernels/common/exp.hpp"
#include "kernel_fixture.hpp"

namespace hal::cpu::test {
namespace {

// Cast's rules, written down again in long double, which holds every i64, u64 and f64.
template <class D, class S>
long double expected_cast(S from) {
    const long double value = exact(from);
    if constexpr (std::same_as<D, Bool>) {
        return value != 0 ? 1 : 0;  // NaN too
    } else if constexpr (std::integral<D> && (std::integral<S> || std::same_as<S, Bool>)) {
        return static_cast<D>(wrapped(value));
    } else if constexpr (std::integral<D>) {
        if (std::isnan(value)) {
            return 0;
        }
        const long double most = std::numeric_limits<D>::max();
        const long double least = std::numeric_limits<D>::min();
        return std::min(std::max(std::trunc(value), least), most);
    } else {
        return rounded<D>(value);
    }
}

template <class S>
std::vector<S> interesting() {
    std::vector<S> values;
    if constexpr (Half<S>) {
        for (uint32_t bits = 0; bits < 65536; ++bits) {
            values.push_back({static_cast<uint16_t>(bits)});
        }
    } else if constexpr (std::same_as<S, Bool>) {
        values = {{0}, {1}, {2}, {255}};
    } else {
        std::mt19937_64 random(3);
        for (int i = 0; i < 3000; ++i) {
            values.push_back(random_value<S>(random, false));
        }
        for (int power = 0; power < 64; ++power) {  // around every power of two, where rounding and range change
            for (const double off : {-1.0, -0.5, 0.0, 0.5, 1.0, 1.0 / 1024, 1.0 / 256}) {
                for (const double sign : {-1.0, 1.0}) {
                    values.push_back(convert<S>(sign * (std::ldexp(1.0, power) + off)));
                    values.push_back(convert<S>(sign * std::ldexp(1.0 + off / 2048, power - 32)));
                    values.push_back(convert<S>(sign * std::ldexp(1.0, power) * (1 + off / 128)));
                }
            }
        }
        if constexpr (std::floating_point<S>) {
            using Limits = std::numeric_limits<S>;
            for (const S v :
                 {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), Limits::max(), Limits::denorm_min(),
                  S(-0.0), S(65504), S(65519.99), S(65520), S(-65520), S(0x1p-24), S(0x1p-25), S(0x1.8p-25),
                  S(0x1.FEp127), S(0x1.FEFFFEp127), S(0x1.FFp127), S(1 + 0x1p-11), S(1 + 0x1.000002p-11)}) {
                values.push_back(v);
            }
            if constexpr (sizeof(S) == 8) {  // a float in between would round these the other way
                for (const S v :
                     {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 1 + 0x3p-11 - 0x1p-40, 65520 - 0x1p-30}) {
                    values.push_back(v);
                    values.push_back(-v);
                }
            }
        } else {
            for (int64_t off = -70000; off <= 70000; off += 1399) {  // i64, u64: rounding to a half through a double
                values.push_back(static_cast<S>((uint64_t{257} << 48) + static_cast<uint64_t>(off)));
            }
        }
    }
    return values;
}

// The kernel takes the same conversions; here every pair is held against the reference.
template <class D, class S>
void check_pair() {
    size_t wrong = 0;
    for (const S value : interesting<S>()) {
        const long double got = exact(convert<D>(value));
        const long double expected = expected_cast<D>(value);
        if (!same(got, expected) && wrong++ == 0) {
            UNSCOPED_INFO(dtype_text(dtype_of<S>) << " -> " << dtype_text(dtype_of<D>) << " of " << exact(value) << ": "
                                                  << got << ", expected " << expected);
        }
    }
    CHECK(wrong == 0);
}

template <class D>
void check_to() {
#define CHECK_PAIR(dtype, S) check_pair<D, S>();
    HAL_FOR_TYPES(CHECK_PAIR)
#undef CHECK_PAIR
}

TEST_CASE("every conversion rounds once, saturates or wraps as documented") {
#define CHECK_TO(dtype, D) check_to<D>();
    HAL_FOR_TYPES(CHECK_TO)
#undef CHECK_TO
}

TEST_CASE("e^x of a float is within 2 units in the last place") {
    long double worst = 0;
    for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
        const auto x = std::bit_cast<float>(static_cast<uint32_t>(bits));
        const float got = exponential(x);
        const auto expected = static_cast<long double>(std::exp(static_cast<double>(x)));
        if (std::isnan(x)) {
            REQUIRE(std::isnan(got));
        } else if (expected > format_of<float>.largest || got > format_of<float>.largest) {
            REQUIRE(std::isinf(got));
            REQUIRE(expected > 0.999999L * format_of<float>.largest);
        } else {
            worst = std::max(worst, std::fabs(got - expected) / ulp<float>(expected));
        }
    }
    CHECK(worst <= 2);
    CHECK(exponential(0.0F) == 1.0F);
    CHECK(exponential(-HUGE_VALF) == 0.0F);
    CHECK(exponential(HUGE_VALF) == HUGE_VALF);
}

}  // namespace
}  // namespace hal::cpu::test

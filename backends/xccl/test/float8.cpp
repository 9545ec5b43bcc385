// Every value of the two types of 8 bits, against what their definition says (OCP 8-bit floating point, 1.0).
#include "float8.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

namespace hal::xccl {
namespace {

// By the definition, in double.
double value_of(uint8_t bits, int exponent_bits, int mantissa_bits) {
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const int exponent = (bits & 0x7f) >> mantissa_bits;
    const int mantissa = bits & ((1 << mantissa_bits) - 1);
    const double sign = (bits & 0x80) != 0 ? -1 : 1;
    const double fraction = std::ldexp(mantissa, -mantissa_bits);
    return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias) : sign * std::ldexp(1 + fraction, exponent - bias);
}

// Neighbours in value are neighbours in bits, so the nearest is found by looking at all; ties go to the even one.
template <class T>
uint8_t nearest(double value, int exponent_bits, int mantissa_bits, int largest) {
    uint8_t best = 0;
    for (int bits = 1; bits <= largest; ++bits) {
        const auto candidate = static_cast<uint8_t>(bits);
        const double was = std::fabs(value_of(best, exponent_bits, mantissa_bits) - std::fabs(value));
        const double is = std::fabs(value_of(candidate, exponent_bits, mantissa_bits) - std::fabs(value));
        if (is < was || (is == was && bits % 2 == 0)) {
            best = candidate;
        }
    }
    return static_cast<uint8_t>(best | (std::signbit(value) ? 0x80 : 0));
}

TEST_CASE("every f8 is the number that its bits say") {
    for (int bits = 0; bits < 256; ++bits) {
        const auto byte = static_cast<uint8_t>(bits);
        CAPTURE(bits);
        const float e4m3 = widen(F8E4M3{byte});
        if ((bits & 0x7f) == 0x7f) {
            CHECK(std::isnan(e4m3));
        } else {
            CHECK(static_cast<double>(e4m3) == value_of(byte, 4, 3));
            CHECK(narrow(e4m3, std::type_identity<F8E4M3>()).bits == byte);
        }
        const float e5m2 = widen(F8E5M2{byte});
        if ((bits & 0x7f) > 0x7c) {
            CHECK(std::isnan(e5m2));
        } else if ((bits & 0x7f) == 0x7c) {
            CHECK(std::isinf(e5m2));
        } else {
            CHECK(static_cast<double>(e5m2) == value_of(byte, 5, 2));
        }
        if ((bits & 0x7f) <= 0x7c) {
            CHECK(narrow(e5m2, std::type_identity<F8E5M2>()).bits == byte);
        }
    }
}

TEST_CASE("f32 becomes the nearest f8, ties to even") {
    // Between and on all values: quarter steps of the finest one, and what lies around the largest.
    for (int step = -4096; step <= 4096; ++step) {
        const float fine = std::ldexp(static_cast<float>(step), -11);
        for (const float value : {fine, fine * 64, fine * 224}) {
            CAPTURE(value);
            if (std::fabs(value) <= 448) {
                CHECK(narrow(value, std::type_identity<F8E4M3>()).bits == nearest<F8E4M3>(value, 4, 3, 0x7e));
            }
            CHECK(narrow(value, std::type_identity<F8E5M2>()).bits == nearest<F8E5M2>(value, 5, 2, 0x7b));
        }
    }
}

TEST_CASE("beyond the range f8e4m3fn is NaN and f8e5m2 infinity") {
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK(narrow(448.0F, std::type_identity<F8E4M3>()).bits == 0x7e);
    CHECK(narrow(463.0F, std::type_identity<F8E4M3>()).bits == 0x7e);
    CHECK(narrow(465.0F, std::type_identity<F8E4M3>()).bits == 0x7f);
    CHECK(narrow(-infinity, std::type_identity<F8E4M3>()).bits == 0xff);
    CHECK(narrow(57344.0F, std::type_identity<F8E5M2>()).bits == 0x7b);
    CHECK(narrow(61439.0F, std::type_identity<F8E5M2>()).bits == 0x7b);
    CHECK(narrow(61441.0F, std::type_identity<F8E5M2>()).bits == 0x7c);
    CHECK(narrow(-infinity, std::type_identity<F8E5M2>()).bits == 0xfc);
    CHECK(std::isnan(widen(narrow(std::nanf(""), std::type_identity<F8E5M2>()))));
}

}  // namespace
}  // namespace hal::xccl

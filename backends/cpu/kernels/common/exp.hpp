// e^x for float as straight-line code, so that loops over it become vector code: glibc's expf is a call an element, and
// its vector variants need -ffast-math.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace hal::cpu {

// Within 2 units in the last place of the exact value (the unit test compares with a double); exact at infinities, NaN
// and 0.
inline float exponential(float x) noexcept {
    // Beyond these e^x is infinite or rounds to 0; between, n stays in [-151, 129] (NaN passes both comparisons).
    const float clamped = x > 89.0F ? 89.0F : (x < -104.0F ? -104.0F : x);
    // n = round(x / ln 2): adding 1.5 * 2^23 leaves the integer in the low bits.
    const float shifted = clamped * 0x1.715476p+0F + 0x1.8p23F;
    const float n = shifted - 0x1.8p23F;
    // x - n ln 2 in two steps; n * 0x1.62e4p-1 is exact, the constant has 15 bits.
    const float r = (clamped - n * 0x1.62e4p-1F) - n * 0x1.7f7d1cp-20F;
    // Taylor series to r^7 / 7!; |r| <= 0.35 leaves less than 1e-8.
    float p = 1.9841270e-4F;
    p = p * r + 1.3888889e-3F;
    p = p * r + 8.3333333e-3F;
    p = p * r + 4.1666667e-2F;
    p = p * r + 1.6666667e-1F;
    p = p * r + 0.5F;
    p = p * r * r + r + 1.0F;
    // 2^n in two factors, because n may be below the smallest or above the largest exponent.
    const auto whole = static_cast<int32_t>(std::bit_cast<uint32_t>(shifted) - 0x4b400000U);
    const int32_t half = whole >> 1;
    const auto power = [](int32_t e) { return std::bit_cast<float>(static_cast<uint32_t>(e + 127) << 23); };
    return p * power(half) * power(whole - half);
}

inline double exponential(double x) noexcept {
    return std::exp(x);
}

}  // namespace hal::cpu

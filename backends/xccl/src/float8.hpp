// Floats of 8 bits (OCP 8-bit floating point, revision 1.0): e4m3fn without infinity, e5m2 with. Nearest-even, once;
// beyond the range e4m3fn saturates to NaN as "fn" has no infinity, e5m2 to infinity.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace hal::xccl {

struct F8E4M3 {
    uint8_t bits;
};
struct F8E5M2 {
    uint8_t bits;
};

namespace detail {

template <int exponent_bits, int mantissa_bits>
inline float widen8(uint8_t bits, bool has_infinity) noexcept {
    constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t sign = static_cast<uint32_t>(bits & 0x80U) << 24U;
    const uint32_t magnitude = bits & 0x7fU;
    const uint32_t top = (0x7fU >> mantissa_bits) << mantissa_bits;  // exponent all ones
    if (has_infinity ? magnitude > top : magnitude == 0x7fU) {
        return std::bit_cast<float>(sign | 0x7fc00000U);
    }
    if (has_infinity && magnitude == top) {
        return std::bit_cast<float>(sign | 0x7f800000U);
    }
    // Placed as the exponent and mantissa of an f32 it is too small by a power of two, subnormals included.
    const float scaled = std::bit_cast<float>(magnitude << (23 - mantissa_bits)) *
                         std::bit_cast<float>(static_cast<uint32_t>(127 + 127 - bias) << 23U);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
}

template <int exponent_bits, int mantissa_bits>
inline uint8_t narrow8(float value, uint32_t largest_magnitude, uint8_t beyond, uint8_t nan) noexcept {
    constexpr int bias = (1 << (exponent_bits - 1)) - 1;
    const auto bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint8_t>((bits >> 24U) & 0x80U);
    if (std::isnan(value) || std::isinf(value)) {
        return static_cast<uint8_t>(sign | (std::isnan(value) ? nan : beyond));
    }
    const float magnitude = std::fabs(value);
    // A float whose last bit is worth the last bit of the result: adding and taking it away rounds to nearest-even.
    const int exponent = std::max(std::ilogb(magnitude == 0 ? 1.0F : magnitude), 1 - bias);
    const float unit = std::ldexp(1.0F, exponent - mantissa_bits);
    const auto steps = static_cast<uint32_t>(std::nearbyint(magnitude / unit));
    // steps has the hidden bit, so the exponent's carry comes by addition.
    const uint32_t result = magnitude == 0 ? 0 : (static_cast<uint32_t>(exponent + bias - 1) << mantissa_bits) + steps;
    return static_cast<uint8_t>(sign | (result > largest_magnitude ? beyond : result));
}

}  // namespace detail

inline float widen(F8E4M3 value) noexcept {
    return detail::widen8<4, 3>(value.bits, false);
}
inline float widen(F8E5M2 value) noexcept {
    return detail::widen8<5, 2>(value.bits, true);
}
inline F8E4M3 narrow(float value, std::type_identity<F8E4M3>) noexcept {
    return {detail::narrow8<4, 3>(value, 0x7eU, 0x7fU, 0x7fU)};
}
inline F8E5M2 narrow(float value, std::type_identity<F8E5M2>) noexcept {
    return {detail::narrow8<5, 2>(value, 0x7bU, 0x7cU, 0x7eU)};
}

}  // namespace hal::xccl

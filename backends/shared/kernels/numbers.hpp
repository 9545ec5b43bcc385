// The element types as C++ types, and every conversion between them.
//
// Rounding and saturation (the rules of Cast): to a float nearest-even, once, beyond its range infinity; float to
// integer truncates toward zero, saturates, NaN gives 0; integer to integer keeps the low bits; to bool is "not zero"
// (NaN is true).
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "hal/types.h"

namespace hal::shared {

struct F16 {
    uint16_t bits;
};
struct BF16 {
    uint16_t bits;
};
// One byte, any value but 0 is true; C++ bool would make other bytes undefined behaviour.
struct Bool {
    uint8_t byte;
};

// HAL_FOR_...(X) expands X(dtype, C++ type) for each type of a class.
#define HAL_FOR_FLOATS(X) X(HAL_F32, float) X(HAL_F64, double) X(HAL_F16, F16) X(HAL_BF16, BF16)
#define HAL_FOR_INTEGERS(X) \
    X(HAL_I8, int8_t)       \
    X(HAL_I16, int16_t)     \
    X(HAL_I32, int32_t)     \
    X(HAL_I64, int64_t) X(HAL_U8, uint8_t) X(HAL_U16, uint16_t) X(HAL_U32, uint32_t) X(HAL_U64, uint64_t)
#define HAL_FOR_NUMBERS(X) HAL_FOR_FLOATS(X) HAL_FOR_INTEGERS(X)
#define HAL_FOR_TYPES(X) HAL_FOR_NUMBERS(X) X(HAL_BOOL, Bool)

template <class T>
inline constexpr hal_dtype dtype_of = HAL_DTYPE_ANY;
#define HAL_DTYPE_OF(dtype, T) \
    template <>                \
    inline constexpr hal_dtype dtype_of<T> = dtype;
HAL_FOR_TYPES(HAL_DTYPE_OF)
#undef HAL_DTYPE_OF

// Calls f(std::type_identity<T>()) for the type of the dtype; false, and no call, for a type that has none here.
template <class F>
bool dispatch(hal_dtype dtype, F&& f) {
    switch (dtype) {
#define HAL_CASE(value, T)          \
    case value:                     \
        f(std::type_identity<T>()); \
        return true;
        HAL_FOR_TYPES(HAL_CASE)
#undef HAL_CASE
        default:
            return false;
    }
}

// "f32"; "dtype(code 9, 8 bits, 1 lanes)" for what the contract does not name.
[[nodiscard]] std::string dtype_text(hal_dtype dtype);

template <class T>
concept Half = std::same_as<T, F16> || std::same_as<T, BF16>;

// What arithmetic on T is done in.
template <class T>
struct ComputeOf {
    using type = T;
};
template <Half T>
struct ComputeOf<T> {
    using type = float;
};
template <class T>
using Compute = typename ComputeOf<T>::type;

// ---- Halves. Without branches, so that loops over them become vector code. ----

inline float widen(BF16 value) noexcept {
    return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

inline float widen(F16 value) noexcept {
    const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000U) << 16;
    const uint32_t rest = static_cast<uint32_t>(value.bits & 0x7fffU) << 13;
    // Rebias the exponent by a multiplication, which makes subnormals right too; infinity and NaN need all ones.
    const float scaled = std::bit_cast<float>(rest) * 0x1p112F;
    const uint32_t special = rest >= 0x0f800000U ? 0x7f800000U : 0U;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | special | sign);
}

inline BF16 narrow(float value, std::type_identity<BF16>) noexcept {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const uint32_t quiet = (bits >> 16) | 0x40U;
    return {static_cast<uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded)};
}

inline F16 narrow(float value, std::type_identity<F16>) noexcept {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000U;
    const uint32_t magnitude = bits & 0x7fffffffU;
    // Normal: rebias and round at bit 13. Subnormal: adding 0.5 moves the bits to the end and rounds them on the way.
    const uint32_t normal = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
    const uint32_t tiny = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
    const uint32_t finite = magnitude < 0x38800000U ? tiny : normal;
    const uint32_t large = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
    return {static_cast<uint16_t>(sign | (magnitude >= 0x477ff000U ? large : finite))};
}

// A double as a float whose last bit remembers that something was cut off ("round to odd"): rounding the float to a
// half then gives what rounding the double would.
inline float sticky_float(double value) noexcept {
    const auto nearest = static_cast<float>(value);
    if (static_cast<double>(nearest) == value || std::isnan(value)) {
        return nearest;
    }
    const bool away = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
    return std::bit_cast<float>((std::bit_cast<uint32_t>(nearest) - (away ? 1U : 0U)) | 1U);
}

// An integer as a double in the same manner: at most 53 significant bits, the last of them sticky.
template <std::integral S>
double sticky_double(S value) noexcept {
    if constexpr (sizeof(S) < 8) {
        return static_cast<double>(value);
    } else {
        const bool negative = value < 0;
        const auto whole = static_cast<uint64_t>(value);
        uint64_t magnitude = negative ? 0 - whole : whole;
        if (magnitude >> 53 != 0) {
            magnitude = (magnitude & ~uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800U : 0U);
        }
        return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    }
}

// ---- Any to any ----

template <std::integral D, std::floating_point S>
D to_integer(S value) noexcept {
    // 2^(bits - sign) is a float of every kind; the largest integer may be none.
    constexpr S end = static_cast<S>(uint64_t{1} << (std::numeric_limits<D>::digits - 1)) * S{2};
    constexpr S begin = std::is_signed_v<D> ? -end : S{0};
    if (!(value > begin)) {
        return std::isnan(value) ? D{0} : std::numeric_limits<D>::min();
    }
    return value >= end ? std::numeric_limits<D>::max() : static_cast<D>(value);
}

template <class D, class S>
D convert(S value) noexcept {
    if constexpr (std::same_as<D, S>) {
        return value;
    } else if constexpr (std::same_as<S, Bool>) {
        return convert<D>(static_cast<uint8_t>(value.byte != 0 ? 1 : 0));
    } else if constexpr (Half<S>) {
        return convert<D>(widen(value));
    } else if constexpr (std::same_as<D, Bool>) {
        return {static_cast<uint8_t>(value != S{0} ? 1 : 0)};
    } else if constexpr (Half<D> && std::same_as<S, float>) {
        return narrow(value, std::type_identity<D>());
    } else if constexpr (Half<D> && std::floating_point<S>) {
        return narrow(sticky_float(value), std::type_identity<D>());
    } else if constexpr (Half<D>) {
        return narrow(sticky_float(sticky_double(value)), std::type_identity<D>());
    } else if constexpr (std::integral<D> && std::floating_point<S>) {
        return to_integer<D>(value);
    } else {
        return static_cast<D>(value);
    }
}

// Memory to arithmetic and back.
template <class T>
Compute<T> load(T value) noexcept {
    return convert<Compute<T>>(value);
}
template <class T>
T store(Compute<T> value) noexcept {
    return convert<T>(value);
}

}  // namespace hal::shared

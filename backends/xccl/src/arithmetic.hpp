// Types that are reduced: what is stored, what arithmetic is done in and the way between; and the operations.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "float8.hpp"
#include "kernels/numbers.hpp"

namespace hal::xccl {

using shared::BF16;
using shared::Bool;
using shared::F16;

template <class T>
struct Arithmetic {
    using Wide = T;
    static Wide load(T value) noexcept { return value; }
    static T store(Wide value) noexcept { return value; }
};
template <class T>
struct InF32 {
    using Wide = float;
    static Wide load(T value) noexcept { return widen(value); }
    static T store(Wide value) noexcept { return narrow(value, std::type_identity<T>()); }
};
template <>
struct Arithmetic<F16> : InF32<F16> {};
template <>
struct Arithmetic<BF16> : InF32<BF16> {};
template <>
struct Arithmetic<F8E4M3> : InF32<F8E4M3> {};
template <>
struct Arithmetic<F8E5M2> : InF32<F8E5M2> {};
template <>
struct Arithmetic<Bool> {
    using Wide = uint8_t;
    static Wide load(Bool value) noexcept { return value.byte != 0 ? 1 : 0; }
    static Bool store(Wide value) noexcept { return {static_cast<uint8_t>(value != 0 ? 1 : 0)}; }
};

// Sums of integers wrap; without undefined behaviour they do so as unsigned.
template <class W>
using Wrapping = typename std::conditional_t<std::is_integral_v<W>, std::make_unsigned<W>, std::type_identity<W>>::type;

struct Sum {
    template <class W>
    static W apply(W a, W b) noexcept {
        return static_cast<W>(static_cast<Wrapping<W>>(a) + static_cast<Wrapping<W>>(b));
    }
};
struct Product {
    template <class W>
    static W apply(W a, W b) noexcept {
        if constexpr (std::is_integral_v<W>) {  // u16 x u16 would be a product of ints
            return static_cast<W>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
        } else {
            return a * b;
        }
    }
};
template <class W>
bool is_nan(W value) noexcept {
    if constexpr (std::is_floating_point_v<W>) {
        return std::isnan(value);
    }
    return false;
}

// NaN wins, so that it is not lost on the way.
struct Max {
    template <class W>
    static W apply(W a, W b) noexcept {
        return a > b || is_nan(a) ? a : b;
    }
};
struct Min {
    template <class W>
    static W apply(W a, W b) noexcept {
        return a < b || is_nan(a) ? a : b;
    }
};
struct And {
    template <class W>
    static W apply(W a, W b) noexcept {
        return static_cast<W>(a & b);
    }
};
struct Or {
    template <class W>
    static W apply(W a, W b) noexcept {
        return static_cast<W>(a | b);
    }
};
struct Xor {
    template <class W>
    static W apply(W a, W b) noexcept {
        return static_cast<W>(a ^ b);
    }
};

__extension__ using Int128 = __int128;

// What a sum of values of T is exact in, as far as there is such a type.
template <class T, class W = typename Arithmetic<T>::Wide>
using ExactSum = std::conditional_t<std::is_integral_v<W>, std::conditional_t<sizeof(W) == 8, Int128, int64_t>, W>;

// Calls f(std::type_identity<T>()) with the C++ type of what collectives move; false for anything else.
template <class F>
bool with_type(hal_dtype dtype, F&& f) {
    switch (dtype) {
        case HAL_F8E4M3FN:
            f(std::type_identity<F8E4M3>());
            return true;
        case HAL_F8E5M2:
            f(std::type_identity<F8E5M2>());
            return true;
        default:
            return shared::dispatch(dtype, f);
    }
}

}  // namespace hal::xccl

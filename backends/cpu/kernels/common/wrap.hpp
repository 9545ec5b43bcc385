// Integer arithmetic that wraps around, as the vector units of every device do.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace hal::cpu {

// op(a, b) on the unsigned type of at least 32 bits: narrower ones would be promoted to int, which must not overflow.
template <class T, class Op>
T wrapping(Op op, T a, T b) noexcept {
    if constexpr (std::integral<T>) {
        using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
        return static_cast<T>(op(static_cast<Wide>(a), static_cast<Wide>(b)));
    } else {
        return op(a, b);
    }
}

}  // namespace hal::cpu

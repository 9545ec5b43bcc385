#include "reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "float8.hpp"
#include "kernels/numbers.hpp"

namespace hal::xccl {
namespace {

using shared::BF16;
using shared::Bool;
using shared::F16;

// ---- Types: what is stored, what arithmetic is done in, and the way between ----

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
// NaN wins, so that it is not lost on the way.
struct Max {
    template <class W>
    static W apply(W a, W b) noexcept {
        return a > b || a != a ? a : b;
    }
};
struct Min {
    template <class W>
    static W apply(W a, W b) noexcept {
        return a < b || a != a ? a : b;
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

// Without the fence that ends a series of stores past the caches.
void copy_block(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept {
#if defined(__SSE2__)
    if (stream && bytes >= 64) {
        const uint64_t head = (16 - reinterpret_cast<uint64_t>(to) % 16) % 16;
        std::memcpy(to, from, head);
        const uint64_t whole = (bytes - head) / 64 * 64;
        for (uint64_t i = head; i < head + whole; i += 64) {
            const auto* const source = reinterpret_cast<const __m128i*>(from + i);
            auto* const target = reinterpret_cast<__m128i*>(to + i);
            const __m128i a = _mm_loadu_si128(source);
            const __m128i b = _mm_loadu_si128(source + 1);
            const __m128i c = _mm_loadu_si128(source + 2);
            const __m128i d = _mm_loadu_si128(source + 3);
            _mm_stream_si128(target, a);
            _mm_stream_si128(target + 1, b);
            _mm_stream_si128(target + 2, c);
            _mm_stream_si128(target + 3, d);
        }
        std::memcpy(to + head + whole, from + head + whole, bytes - head - whole);
        return;
    }
#endif
    std::memmove(to, from, bytes);
}

// Stores past the caches become visible in any order; what comes next says that they are there.
void end_stream(bool stream) noexcept {
#if defined(__SSE2__)
    if (stream) {
        _mm_sfence();
    }
#else
    static_cast<void>(stream);
#endif
}

// ---- A block at a time, in the first-level cache ----

constexpr uint64_t block_elements = 1024;

struct Keep {
    template <class W>
    W operator()(W value, size_t) const noexcept {
        return value;
    }
};

// `lift` makes of a loaded element of a source what is reduced, `finish` of the total what is stored.
template <class T, class Wide, class Op, class Lift, class Finish>
void reduce_blocks(const Reduction& work, const Lift& lift, const Finish& finish) noexcept {
    using A = Arithmetic<T>;
    alignas(64) Wide total[block_elements];
    alignas(64) T result[block_elements];
    for (uint64_t first = 0; first < work.count; first += block_elements) {
        const uint64_t n = std::min(block_elements, work.count - first);
        for (size_t k = 0; k < work.sources.size(); ++k) {
            const T* const source = reinterpret_cast<const T*>(work.sources[k]) + first;
            if (k == 0) {
                for (uint64_t i = 0; i < n; ++i) {
                    total[i] = lift(static_cast<Wide>(A::load(source[i])), k);
                }
            } else {
                for (uint64_t i = 0; i < n; ++i) {
                    total[i] = Op::template apply<Wide>(total[i], lift(static_cast<Wide>(A::load(source[i])), k));
                }
            }
        }
        for (uint64_t i = 0; i < n; ++i) {
            result[i] = A::store(static_cast<typename A::Wide>(finish(total[i])));
        }
        for (std::byte* const target : work.targets) {
            copy_block(target + first * sizeof(T), reinterpret_cast<const std::byte*>(result), n * sizeof(T),
                       work.stream);
        }
    }
}

template <class T, class Op>
void reduce_plain(const Reduction& work) noexcept {
    using Wide = typename Arithmetic<T>::Wide;
    reduce_blocks<T, Wide, Op>(work, Keep(), [](Wide value) noexcept { return value; });
}

__extension__ using Int128 = __int128;

// The sum of integers is exact; dividing it truncates toward zero.
template <class T>
void reduce_average(const Reduction& work) noexcept {
    using W = typename Arithmetic<T>::Wide;
    using Signed = std::conditional_t<sizeof(W) == 8, Int128, int64_t>;
    using Wide = std::conditional_t<std::is_integral_v<W>, Signed, W>;
    const auto ranks = static_cast<Wide>(work.sources.size());
    reduce_blocks<T, Wide, Sum>(work, Keep(),
                                [ranks](Wide value) noexcept { return static_cast<Wide>(value / ranks); });
}

template <class T>
void reduce_premultiplied(const Reduction& work) noexcept {
    using A = Arithmetic<T>;
    using Wide = typename A::Wide;
    const T* const scalars = reinterpret_cast<const T*>(work.scalars);
    reduce_blocks<T, Wide, Sum>(
        work, [scalars](Wide value, size_t k) noexcept { return Product::apply<Wide>(value, A::load(scalars[k])); },
        [](Wide value) noexcept { return value; });
}

template <class T>
void reduce_bits(const Reduction& work) noexcept {
    switch (work.op) {
        case HAL_REDUCE_BAND:
            return reduce_plain<T, And>(work);
        case HAL_REDUCE_BOR:
            return reduce_plain<T, Or>(work);
        default:
            return reduce_plain<T, Xor>(work);
    }
}

template <class T>
void reduce_type(const Reduction& work) noexcept {
    switch (work.op) {
        case HAL_REDUCE_SUM:
            return reduce_plain<T, Sum>(work);
        case HAL_REDUCE_PROD:
            return reduce_plain<T, Product>(work);
        case HAL_REDUCE_MAX:
            return reduce_plain<T, Max>(work);
        case HAL_REDUCE_MIN:
            return reduce_plain<T, Min>(work);
        case HAL_REDUCE_AVG:
            return reduce_average<T>(work);
        case HAL_REDUCE_PREMUL_SUM:
            return reduce_premultiplied<T>(work);
        default:
            if constexpr (std::is_integral_v<T>) {
                reduce_bits<T>(work);
            }
    }
}

bool is_bitwise(hal_reduce_op op) noexcept {
    return op == HAL_REDUCE_BAND || op == HAL_REDUCE_BOR || op == HAL_REDUCE_BXOR;
}

bool is_float(hal_dtype dtype) noexcept {
    return dtype == HAL_F16 || dtype == HAL_BF16 || dtype == HAL_F32 || dtype == HAL_F64 || dtype == HAL_F8E4M3FN ||
           dtype == HAL_F8E5M2;
}

void reduce_any(const Reduction& work) noexcept {
    switch (work.dtype) {
        case HAL_F8E4M3FN:
            return reduce_type<F8E4M3>(work);
        case HAL_F8E5M2:
            return reduce_type<F8E5M2>(work);
        case HAL_BOOL:
            return is_bitwise(work.op) ? reduce_bits<Bool>(work) : reduce_type<Bool>(work);
        default:
            shared::dispatch(work.dtype, [&]<class T>(std::type_identity<T>) { reduce_type<T>(work); });
    }
}

}  // namespace

uint64_t element_bytes(hal_dtype dtype) noexcept {
    switch (dtype) {
        case HAL_F8E4M3FN:
        case HAL_F8E5M2:
            return 1;
        default: {
            uint64_t bytes = 0;
            shared::dispatch(dtype, [&]<class T>(std::type_identity<T>) { bytes = sizeof(T); });
            return bytes;
        }
    }
}

bool can_reduce(hal_dtype dtype, hal_reduce_op op) noexcept {
    if (element_bytes(dtype) == 0 || op < HAL_REDUCE_SUM || op > HAL_REDUCE_BXOR) {
        return false;
    }
    if (dtype == HAL_BOOL) {  // "or" and "and"; a sum of truths would be a number
        return op == HAL_REDUCE_MAX || op == HAL_REDUCE_MIN || is_bitwise(op);
    }
    return !is_bitwise(op) || !is_float(dtype);
}

void reduce(const Reduction& work) noexcept {
    reduce_any(work);
    end_stream(work.stream);
}

void copy(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept {
    copy_block(to, from, bytes, stream);
    end_stream(stream);
}

}  // namespace hal::xccl

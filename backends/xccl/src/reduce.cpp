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

// Loops over elements. A target may be a source, exactly; else they do not overlap, which the compiler is told so that
// it makes vector code.
#define HAL_ELEMENTS(i, n) _Pragma("GCC ivdep") for (uint64_t i = 0; i < (n); ++(i))

// `lift` makes of a loaded element of source k what is reduced, `finish` of the total what is stored.
template <class T, class Wide, class Op, class Lift, class Finish>
class Blocks {
  public:
    Blocks(const Reduction& work, const Lift& lift, const Finish& finish) : work_(work), lift_(lift), finish_(finish) {}

    void run() noexcept {
        for (uint64_t first = 0; first < work_.count; first += block_elements) {
            const uint64_t n = std::min(block_elements, work_.count - first);
            const size_t last = work_.sources.size() - 1;
            if (last == 0) {
                store(first, n, [&, in = source(0, first)](uint64_t i) { return lifted(in[i], 0); });
            } else {
                const Wide* const before = all_before(last, first, n);
                store(first, n, [&, before, in = source(last, first)](uint64_t i) {
                    return Op::template apply<Wide>(before[i], lifted(in[i], last));
                });
            }
        }
    }

  private:
    using A = Arithmetic<T>;

    [[nodiscard]] const T* source(size_t k, uint64_t first) const noexcept {
        return reinterpret_cast<const T*>(work_.sources[k]) + first;
    }
    [[nodiscard]] T* target(size_t k, uint64_t first) const noexcept {
        return reinterpret_cast<T*>(work_.targets[k]) + first;
    }
    [[nodiscard]] Wide lifted(T value, size_t k) const noexcept { return lift_(static_cast<Wide>(A::load(value)), k); }

    // The reduction of the sources before the last. Of one that need not be converted that is itself.
    const Wide* all_before(size_t last, uint64_t first, uint64_t n) noexcept {
        if constexpr (std::is_same_v<T, Wide> && std::is_same_v<Lift, Keep>) {
            if (last == 1) {
                return source(0, first);
            }
        }
        const T* const begin = source(0, first);
        HAL_ELEMENTS(i, n) {
            total_[i] = lifted(begin[i], 0);
        }
        for (size_t k = 1; k < last; ++k) {
            const T* const in = source(k, first);
            HAL_ELEMENTS(i, n) {
                total_[i] = Op::template apply<Wide>(total_[i], lifted(in[i], k));
            }
        }
        return total_;
    }

    // Into one or two targets at once, or by way of a block to many or past the caches.
    template <class Value>
    void store(uint64_t first, uint64_t n, const Value& value) noexcept {
        const bool direct = !work_.stream && work_.targets.size() <= 2;
        T* const one = direct ? target(0, first) : result_;
        T* const two = direct ? target(work_.targets.size() - 1, first) : result_;
        HAL_ELEMENTS(i, n) {
            const T stored = A::store(static_cast<typename A::Wide>(finish_(value(i))));
            one[i] = stored;
            two[i] = stored;
        }
        for (size_t k = 0; k < work_.targets.size() && !direct; ++k) {
            copy_block(work_.targets[k] + first * sizeof(T), reinterpret_cast<const std::byte*>(result_), n * sizeof(T),
                       work_.stream);
        }
    }

    const Reduction& work_;
    const Lift lift_;
    const Finish finish_;
    alignas(64) Wide total_[block_elements];
    alignas(64) T result_[block_elements];
};

template <class T, class Wide, class Op, class Lift, class Finish>
void reduce_blocks(const Reduction& work, const Lift& lift, const Finish& finish) noexcept {
    Blocks<T, Wide, Op, Lift, Finish>(work, lift, finish).run();
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
    if (work.targets.empty()) {
        return;
    }
    reduce_any(work);
    end_stream(work.stream);
}

void copy(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept {
    copy_block(to, from, bytes, stream);
    end_stream(stream);
}

}  // namespace hal::xccl

#include "reduce.hpp"

#include "arithmetic.hpp"
#include "blocks.hpp"

namespace hal::xccl {
namespace {

template <class T, class Op>
void reduce_plain(const Reduction& work) noexcept {
    reduce_blocks<T, T, typename Arithmetic<T>::Wide, Op>(work, Keep(), Store<T>());
}

// The sum of integers is exact; dividing it truncates toward zero.
template <class T>
void reduce_average(const Reduction& work) noexcept {
    reduce_blocks<T, T, ExactSum<T>, Sum>(work, Keep(), Mean<T>{work.sources.size()});
}

template <class T>
void reduce_premultiplied(const Reduction& work) noexcept {
    const Premultiply<T> lift{reinterpret_cast<const T*>(work.scalars)};
    reduce_blocks<T, T, typename Arithmetic<T>::Wide, Sum>(work, lift, Store<T>());
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
    with_type(work.dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::is_same_v<T, Bool>) {
            is_bitwise(work.op) ? reduce_bits<T>(work) : reduce_type<T>(work);
        } else {
            reduce_type<T>(work);
        }
    });
}

}  // namespace

uint64_t element_bytes(hal_dtype dtype) noexcept {
    uint64_t bytes = 0;
    with_type(dtype, [&]<class T>(std::type_identity<T>) { bytes = sizeof(T); });
    return bytes;
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
    end_reduction(work);
}

void copy(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept {
    copy_block(to, from, bytes, stream);
    if (stream) {
        shared::past_caches_fence();
    }
}

}  // namespace hal::xccl

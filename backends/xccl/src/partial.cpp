#include "partial.hpp"

#include <array>

#include "arithmetic.hpp"
#include "blocks.hpp"

namespace hal::xccl {
namespace {

struct Identity {
    template <class W>
    W operator()(W value) const noexcept {
        return value;
    }
};

// Nothing is gained by more width.
bool is_choice(hal_reduce_op op) noexcept {
    return op != HAL_REDUCE_SUM && op != HAL_REDUCE_PROD && op != HAL_REDUCE_AVG && op != HAL_REDUCE_PREMUL_SUM;
}

// Calls f<T, Wide>() for an operation that is no choice.
template <class F>
void with_partial(hal_dtype dtype, hal_reduce_op op, F&& f) {
    with_type(dtype, [&]<class T>(std::type_identity<T>) {
        if (op == HAL_REDUCE_AVG) {
            f.template operator()<T, ExactSum<T>>();
        } else {
            f.template operator()<T, typename Arithmetic<T>::Wide>();
        }
    });
}

}  // namespace

uint64_t partial_bytes(hal_dtype dtype, hal_reduce_op op) noexcept {
    uint64_t bytes = element_bytes(dtype);
    if (!is_choice(op)) {
        with_partial(dtype, op, [&]<class T, class Wide> { bytes = sizeof(Wide); });
    }
    return bytes;
}

void reduce_to_partial(const Reduction& work) noexcept {
    if (is_choice(work.op)) {
        return reduce(work);
    }
    with_partial(work.dtype, work.op, [&]<class T, class Wide> {
        switch (work.op) {
            case HAL_REDUCE_PROD:
                return reduce_blocks<T, Wide, Wide, Product>(work, Keep(), Identity());
            case HAL_REDUCE_PREMUL_SUM:
                return reduce_blocks<T, Wide, Wide, Sum>(work, Premultiply<T>{reinterpret_cast<const T*>(work.scalars)},
                                                         Identity());
            default:
                return reduce_blocks<T, Wide, Wide, Sum>(work, Keep(), Identity());
        }
    });
    end_reduction(work);
}

void add_partials(hal_dtype dtype, hal_reduce_op op, std::byte* to, const std::byte* a, const std::byte* b,
                  uint64_t count) noexcept {
    const std::array<const std::byte*, 2> sources{a, b};
    const Reduction work{.dtype = dtype, .op = op, .sources = sources, .targets = std::span(&to, 1), .count = count};
    if (is_choice(op)) {
        return reduce(work);
    }
    with_partial(dtype, op, [&]<class T, class Wide> {
        if (op == HAL_REDUCE_PROD) {
            reduce_blocks<Wide, Wide, Wide, Product>(work, Keep(), Identity());
        } else {
            reduce_blocks<Wide, Wide, Wide, Sum>(work, Keep(), Identity());
        }
    });
}

void finish_partials(const Reduction& work, uint64_t ranks) noexcept {
    if (is_choice(work.op)) {
        return reduce(work);
    }
    with_partial(work.dtype, work.op, [&]<class T, class Wide> {
        switch (work.op) {
            case HAL_REDUCE_PROD:
                return reduce_blocks<Wide, T, Wide, Product>(work, Keep(), Store<T>());
            case HAL_REDUCE_AVG:
                return reduce_blocks<Wide, T, Wide, Sum>(work, Keep(), Mean<T>{ranks});
            default:
                return reduce_blocks<Wide, T, Wide, Sum>(work, Keep(), Store<T>());
        }
    });
    end_reduction(work);
}

}  // namespace hal::xccl

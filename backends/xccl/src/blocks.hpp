// Reducing the data of several ranks a block at a time, in the first-level cache.
#pragma once

#include <algorithm>
#include <cstring>

#include "arithmetic.hpp"
#include "past_caches.hpp"
#include "reduce.hpp"

namespace hal::xccl {

constexpr uint64_t block_elements = 1024;

inline void copy_block(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept {
    if (stream) {
        shared::copy_past_caches(to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}
inline void end_reduction(const Reduction& work) noexcept {
    if (work.stream) {
        shared::past_caches_fence();
    }
}

struct Keep {
    template <class W>
    W operator()(W value, size_t) const noexcept {
        return value;
    }
};

// Loops over elements. A target may be a source, exactly; else they do not overlap, which the compiler is told so that
// it makes vector code.
#define HAL_ELEMENTS(i, n) _Pragma("GCC ivdep") for (uint64_t i = 0; i < (n); ++(i))

// In is what lies in the sources, Wide what is reduced, Out what the targets get: `lift` makes of a loaded element of
// source k what is reduced, `finish` of the total what is stored.
template <class In, class Out, class Wide, class Op, class Lift, class Finish>
class Blocks {
  public:
    Blocks(const Reduction& work, const Lift& lift, const Finish& finish) : work_(work), lift_(lift), finish_(finish) {}

    void run() noexcept {
#if defined(__x86_64__)
        static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
        if (has_avx2) {
            return run_avx2();
        }
#endif
        run_all();
    }

  private:
#if defined(__x86_64__)
    // All that it calls becomes part of it, with registers twice as wide: 64 KiB between two ranks, which lie in the
    // second-level caches, take 0.9 of the time. No fused operations: results are the same on every processor.
    [[gnu::target("avx2"), gnu::flatten]] void run_avx2() noexcept {
        run_all();
    }
#endif

    void run_all() noexcept {
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

    [[nodiscard]] const In* source(size_t k, uint64_t first) const noexcept {
        return reinterpret_cast<const In*>(work_.sources[k]) + first;
    }
    [[nodiscard]] Out* target(size_t k, uint64_t first) const noexcept {
        return reinterpret_cast<Out*>(work_.targets[k]) + first;
    }
    [[nodiscard]] Wide lifted(In value, size_t k) const noexcept {
        return lift_(static_cast<Wide>(Arithmetic<In>::load(value)), k);
    }

    // The reduction of the sources before the last. Of one that need not be converted that is itself.
    const Wide* all_before(size_t last, uint64_t first, uint64_t n) noexcept {
        if constexpr (std::is_same_v<In, Wide> && std::is_same_v<Lift, Keep>) {
            if (last == 1) {
                return source(0, first);
            }
        }
        const In* const begin = source(0, first);
        HAL_ELEMENTS(i, n) {
            total_[i] = lifted(begin[i], 0);
        }
        for (size_t k = 1; k < last; ++k) {
            const In* const in = source(k, first);
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
        Out* const one = direct ? target(0, first) : result_;
        Out* const two = direct ? target(work_.targets.size() - 1, first) : result_;
        HAL_ELEMENTS(i, n) {
            const Out stored = finish_(value(i));
            one[i] = stored;
            two[i] = stored;
        }
        for (size_t k = 0; k < work_.targets.size() && !direct; ++k) {
            copy_block(work_.targets[k] + first * sizeof(Out), reinterpret_cast<const std::byte*>(result_),
                       n * sizeof(Out), work_.stream);
        }
    }

    const Reduction& work_;
    const Lift lift_;
    const Finish finish_;
    alignas(64) Wide total_[block_elements];
    alignas(64) Out result_[block_elements];
};

template <class In, class Out, class Wide, class Op, class Lift, class Finish>
void reduce_blocks(const Reduction& work, const Lift& lift, const Finish& finish) noexcept {
    Blocks<In, Out, Wide, Op, Lift, Finish>(work, lift, finish).run();
}

// The total as T, rounded if it must be.
template <class T>
struct Store {
    template <class W>
    T operator()(W value) const noexcept {
        return Arithmetic<T>::store(static_cast<typename Arithmetic<T>::Wide>(value));
    }
};
// The mean of `ranks` values; of integers truncated toward zero.
template <class T>
struct Mean {
    uint64_t ranks;
    template <class W>
    T operator()(W total) const noexcept {
        return Store<T>()(static_cast<W>(total / static_cast<W>(ranks)));
    }
};
// Of PREMUL_SUM: every rank's data by its scalar.
template <class T>
struct Premultiply {
    const T* scalars;
    template <class W>
    W operator()(W value, size_t k) const noexcept {
        return Product::apply<W>(value, Arithmetic<T>::load(scalars[k]));
    }
};

}  // namespace hal::xccl

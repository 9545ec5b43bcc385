// Reducing the data of several ranks, element by element, in the order of the ranks: the result is the same whoever
// computes it, bit for bit. Types of less than 32 bits of float are summed in f32 and rounded once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hal/xccl.h"

namespace hal::xccl {

// Bytes of an element that collectives move; 0 for what they do not.
[[nodiscard]] uint64_t element_bytes(hal_dtype dtype) noexcept;

// Is there arithmetic of this operation on this type? Bitwise operations are for integers and bool.
[[nodiscard]] bool can_reduce(hal_dtype dtype, hal_reduce_op op) noexcept;

struct Reduction {
    hal_dtype dtype = 0;
    hal_reduce_op op = 0;
    std::span<const std::byte* const> sources;  // one a rank, in their order
    std::span<std::byte* const> targets;        // each gets the result; may be a source, exactly
    uint64_t count = 0;
    const std::byte* scalars = nullptr;  // of PREMUL_SUM: one element of each source's rank
    bool stream = false;                 // the targets are larger than caches: written past them
};

void reduce(const Reduction& reduction) noexcept;

// memcpy, past the caches if `stream`.
void copy(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept;

}  // namespace hal::xccl

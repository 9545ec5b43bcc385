// Reductions across hosts: each host makes a partial result of its ranks' data, those of all hosts are added up, and
// the total is finished. A partial result has the width that arithmetic is done in, so that what is rounded is so once.
#pragma once

#include "reduce.hpp"

namespace hal::xccl {

// Of an element.
[[nodiscard]] uint64_t partial_bytes(hal_dtype dtype, hal_reduce_op op) noexcept;

// The targets get partial results.
void reduce_to_partial(const Reduction& work) noexcept;

// One more host's. `to` may be one of the two, exactly.
void add_partials(hal_dtype dtype, hal_reduce_op op, std::byte* to, const std::byte* a, const std::byte* b,
                  uint64_t count) noexcept;

// The sources are partial results, the targets get elements; `ranks` is how many are in them together.
void finish_partials(const Reduction& work, uint64_t ranks) noexcept;

}  // namespace hal::xccl

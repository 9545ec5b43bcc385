// What the buffers of a rank hold before a collective and must hold after it. Small whole numbers: every sum is exact.
#pragma once

#include <cstdint>
#include <span>

#include "xccl/collective.hpp"

namespace hal::bench::xccl {

// Writes elements first.. of what `rank` sends.
void fill_input(std::span<float> chunk, uint64_t first, int rank);

// Writes what no result contains.
void fill_poison(std::span<float> chunk);

// How many of the elements first.. that `rank` has received are not what they must be.
[[nodiscard]] uint64_t count_wrong(std::span<const float> chunk, uint64_t first, const Collective& collective,
                                   int rank);

}  // namespace hal::bench::xccl

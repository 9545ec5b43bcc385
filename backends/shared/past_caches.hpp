// Copies that write past the caches: for results larger than they are, which would only throw out what others keep
// there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hal::shared {

// memmove, past the caches where the processor can and the copy may be made in ascending order. Before another thread
// is told of the copy, past_caches_fence() is due.
void copy_past_caches(std::byte* to, const std::byte* from, uint64_t bytes) noexcept;

// Such stores become visible in any order; what is stored after the fence comes after them.
void past_caches_fence() noexcept;

}  // namespace hal::shared

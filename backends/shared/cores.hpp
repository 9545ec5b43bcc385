// How many processors there are for this process.
#pragma once

#include <cstdint>

namespace hal::shared {

// In its affinity mask, at least 1.
[[nodiscard]] uint32_t usable_cores() noexcept;

}  // namespace hal::shared

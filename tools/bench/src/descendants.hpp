// What the processes that this one has started are using, those they have started included.
#pragma once

#include <cstdint>

namespace hal::bench {

// CPU time of every living descendant and of what it has waited for. Times of the kernel's clock tick, 10 ms on most
// systems.
[[nodiscard]] int64_t descendants_cpu_ns();

}  // namespace hal::bench

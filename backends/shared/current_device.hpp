// The current device of each thread, apart for every instance.
#pragma once

#include "hal/types.h"

namespace hal::shared {

class Life;

// 0 until the thread sets it, and again after the instance was finalized. Nothing but set_current_device changes it.
[[nodiscard]] hal_dev current_device(const Life& life) noexcept;
// Throws std::bad_alloc.
void set_current_device(const Life& life, hal_dev device);

// Entries that this thread keeps, for tests: those of dead instances go when one of another instance is added.
[[nodiscard]] size_t current_device_entries() noexcept;

}  // namespace hal::shared

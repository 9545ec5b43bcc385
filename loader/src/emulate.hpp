// Emulations: entries that a back end lacks and the loader can give with entries that the back end has. Only where
// nothing is hidden by it: no asynchronous entry is emulated by a blocking one, and no query by a wait.
// hal_entry_support says EMULATED.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

#include "tables.hpp"

namespace hal::loader {

struct Completed {
    Tables tables = {};                                // no slot is NULL
    std::array<uint8_t, entries.size()> support = {};  // HAL_SUPPORT_*
};

// Native slots first, then emulations if allowed and possible, then stubs.
Completed complete(const Tables& native, bool emulate);

// In words for the log, "by copies of a host buffer"; empty for an entry without emulation.
std::string_view emulation_means(size_t entry);

// What the counted no-ops of one instance remember.
struct Counters {
    std::mutex mutex;
    uint64_t initialized = 0;
    std::map<hal_dev, uint64_t> devices;
};

// The functions, for the tables of emulate.cpp.
namespace emulated {
hal_status initialize(hal_instance* self) noexcept;
hal_status finalize(hal_instance* self) noexcept;
hal_status init_device(hal_instance* self, hal_dev device) noexcept;
hal_status deinit_device(hal_instance* self, hal_dev device) noexcept;
hal_status get_device_list(hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) noexcept;
hal_status device_memory_set(hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                             uint64_t size_bytes) noexcept;
hal_status memory_copy_d2d(hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src,
                           uint64_t size_bytes) noexcept;
hal_status memory_copy_p2p(hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device, hal_dptr src,
                           uint64_t size_bytes) noexcept;
hal_status memory_copy_2d(hal_instance* self, hal_dev device, const hal_copy_2d* copy) noexcept;
}  // namespace emulated

}  // namespace hal::loader

// What the application may set for one instance.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine.hpp"
#include "hal/sdk.hpp"

namespace hal::opencl {

enum class MemoryMode : uint8_t {
    automatic,  // svm where the device has it
    svm,        // shared virtual memory: a device address is the driver's own
    buffer,     // cl_mem objects behind addresses that are reserved in this process
};

struct Options {
    uint64_t type = 0;          // CL_DEVICE_TYPE_*; 0 all
    std::string platform;       // part of its name; empty all
    int32_t index = -1;         // the one device of this number among those chosen by the others; -1 all
    int32_t repeat = 1;         // each device so often, with a context of its own: for tests
    uint64_t memory_bytes = 0;  // limit of each device; 0 what it has
    MemoryMode memory_mode = MemoryMode::automatic;
    bool profiling = false;  // timing events by the device's clock
    std::string kernels;     // file that lists kernels of the user; empty none
    xccl::Options xccl;
    std::optional<bool> xccl_overlap;  // copies of collectives beside the collective; empty as the device is
    std::string program_cache;         // folder; empty the user's cache, "off" none
};

// Reads `type`, `platform`, `index`, `repeat`, `memory`, `memory_mode`, `profiling`, `kernels`, `program_cache`,
// `xccl_overlap` and those of all collectives. Throws sdk::Error INVALID_ARGUMENT naming option, value and what is
// allowed.
[[nodiscard]] Options read_options(const hal_host* host);

}  // namespace hal::opencl

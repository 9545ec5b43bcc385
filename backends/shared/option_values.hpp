// Options of a back end as numbers. All throw sdk::Error INVALID_ARGUMENT naming the back end, the option, its value
// and what is allowed.
#pragma once

#include <cstdint>
#include <string>

#include "hal/sdk.hpp"

namespace hal::shared {

// Where options come from, and whose they are.
struct OptionSource {
    const hal_host* host;
    const char* backend;
};

[[noreturn]] void bad_option(const OptionSource& source, const char* key, const std::string& value,
                             const std::string& allowed);

[[nodiscard]] int32_t number_option(const OptionSource& source, const char* key, int32_t fallback, int32_t least,
                                    int32_t most);

// Memory of a device, from 4k to 65536g, with or without a suffix k, m or g (powers of 1024); nullopt if nobody gave
// it.
[[nodiscard]] uint64_t memory_option(const OptionSource& source, const char* key, uint64_t fallback);

}  // namespace hal::shared

// The last error of each thread: hal_last_error and hal_last_error_info.
#pragma once

#include <cstdint>
#include <string_view>

#include "hal/loader.h"

namespace hal::loader {

// Copies everything, cuts what is too long at a character's boundary, returns `status`. Allocates nothing.
hal_status set_error(hal_status status, std::string_view backend, std::string_view text,
                     int64_t vendor_code = 0) noexcept;

// How many errors this thread has had: tells whether a plug-in left a text during a call.
uint64_t error_count() noexcept;

struct LastError {
    hal_status status;
    int64_t vendor_code;
    const char* backend;
    const char* text;
};
LastError last_error() noexcept;

[[nodiscard]] bool known_status(hal_status status) noexcept;

}  // namespace hal::loader

// A status in words, for texts that mention another status than their own.
#pragma once

#include <string>

#include "hal/types.h"

namespace hal::shared {

// "HAL_ERROR_BUSY (live objects or running work forbid this now)"
[[nodiscard]] inline std::string describe(hal_status status) {
    switch (status) {
#define HAL_STATUS(name, value, text) \
    case name:                        \
        return #name " (" text ")";
#include "hal/status.def"
    }
    return "status " + std::to_string(static_cast<int32_t>(status));
}

}  // namespace hal::shared

// Numbers of the contract as the words that messages use.
#pragma once

#include <string>

#include "hal/types.h"

namespace hal::loader {

// "f32", "bf16", "f32x4" for lanes, "any"; a type that the contract does not name comes as "dtype(code 9, 8 bits, 1
// lanes)".
std::string dtype_name(hal_dtype dtype);

// "NCHW", "any", "vendor layout 0x8001", "layout 77".
std::string layout_name(hal_layout layout);

// Of the contract's list, or of the vendors' range.
bool is_layout(hal_layout layout) noexcept;

}  // namespace hal::loader

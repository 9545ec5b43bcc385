// Answers of table 1 whose form the contract fixes.
#pragma once

#include <cstdint>
#include <string>

#include "hal/sdk.hpp"

namespace hal::shared {

// get_device_list of a back end with the devices 0 to count - 1.
[[nodiscard]] hal_status list_devices(int32_t count, hal_dev* devices, uint32_t capacity, uint32_t* out_count);

// The first number of a text and those behind its dots: "6.1.0-13-amd64", "OpenCL 3.0 PoCL" and "3.1+debian"
// give 6.1.0, 3.0.0 and 3.1.0. The text is kept as far as it fits.
[[nodiscard]] hal_version parse_version(const std::string& from);

}  // namespace hal::shared

#include "device_answers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

namespace hal::shared {

hal_status list_devices(int32_t count, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
    uint32_t& out = sdk::require(out_count, "out_count");
    const auto present = static_cast<uint32_t>(count);
    const uint32_t written = std::min(capacity, present);
    if (written != 0) {
        sdk::require(devices, "devices");
    }
    for (uint32_t i = 0; i < written; ++i) {
        devices[i] = static_cast<hal_dev>(i);
    }
    out = present;
    return written < present ? HAL_INCOMPLETE : HAL_OK;
}

hal_version parse_version(const std::string& from) {
    hal_version version{};
    std::strncpy(version.text, from.c_str(), sizeof version.text - 1);
    const char* const end = from.c_str() + from.size();
    const char* text = std::find_if(from.c_str(), end, [](unsigned char c) { return std::isdigit(c) != 0; });
    for (uint32_t* part : {&version.major, &version.minor, &version.patch}) {
        const auto [next, error] = std::from_chars(text, end, *part);
        if (error != std::errc{} || next == end || *next != '.') {
            break;
        }
        text = next + 1;
    }
    return version;
}

}  // namespace hal::shared

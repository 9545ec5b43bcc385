// Addresses and ranges as every message of the memory entries spells them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace hal::shared {

inline std::string address_text(uint64_t address) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
    return text;
}

inline std::string range_text(uint64_t address, uint64_t bytes) {
    return "the range of " + std::to_string(bytes) + " bytes at " + address_text(address);
}

}  // namespace hal::shared

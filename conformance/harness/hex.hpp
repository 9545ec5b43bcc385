// Bytes as text that any message can carry.
#pragma once

#include <string>
#include <string_view>

namespace hal::conformance {

[[nodiscard]] inline std::string hex_of(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char byte : bytes) {
        const auto value = static_cast<unsigned char>(byte);
        text += digits[value >> 4U];
        text += digits[value & 15U];
    }
    return text;
}

// Of what hex_of made.
[[nodiscard]] inline std::string bytes_of_hex(std::string_view text) {
    const auto value = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
    std::string bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes += static_cast<char>(value(text[i]) * 16 + value(text[i + 1]));
    }
    return bytes;
}

}  // namespace hal::conformance

// Text without the locale: the names of this project are ASCII.
#pragma once

#include <string_view>
#include <vector>

namespace hal::loader {

constexpr char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool ascii_digit(char c) {
    return c >= '0' && c <= '9';
}

// The parts between separators, empty ones included; one empty part for an empty text.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.push_back(text);
    return parts;
}

inline std::string_view trimmed(std::string_view text) {
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// The elements of a list as people write it in a variable: blanks around elements and empty elements mean nothing.
inline std::vector<std::string_view> list_elements(std::string_view text, char separator) {
    std::vector<std::string_view> elements;
    for (const std::string_view part : split(text, separator)) {
        if (const std::string_view element = trimmed(part); !element.empty()) {
            elements.push_back(element);
        }
    }
    return elements;
}

}  // namespace hal::loader

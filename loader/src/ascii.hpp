// Case without the locale: the names of this project are ASCII.
#pragma once

namespace hal::loader {

constexpr char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace hal::loader

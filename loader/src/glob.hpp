// Patterns of HAL_BACKENDS_SELECT and its kin.
#pragma once

#include <string_view>

namespace hal::loader {

// Whether the whole text fits: `*` is any run of bytes, `?` any one byte, everything else itself without ASCII case. No
// escapes: ids and file names of manifests need none. At most pattern.size() * text.size() steps, no recursion.
bool glob_match(std::string_view pattern, std::string_view text);

inline bool is_glob(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

}  // namespace hal::loader

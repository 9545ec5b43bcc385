#include "glob.hpp"

#include "text.hpp"

namespace hal::loader {

// Only the last star ever needs another try: what stood before it has been matched as early as possible, and a later
// place would leave less text for the rest.
bool glob_match(std::string_view pattern, std::string_view text) {
    size_t p = 0;
    size_t t = 0;
    size_t after_star = std::string_view::npos;  // place in the pattern
    size_t star_text = 0;                        // where the star's run ends so far
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            after_star = ++p;
            star_text = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || ascii_lower(pattern[p]) == ascii_lower(text[t]))) {
            ++p;
            ++t;
        } else if (after_star != std::string_view::npos) {
            p = after_star;
            t = ++star_text;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace hal::loader

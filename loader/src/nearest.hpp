// "Did you mean": the known names that a misspelt one may stand for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hal::loader {

// At most `most` names of `known` within a third of the word's length (at least 2) in edits, the nearest first and
// equals in the order of `known`. An insertion, deletion, replacement or swap of neighbours is one edit; ASCII case is
// none. Words beyond 256 bytes match nothing, so that the cost is bounded.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string_view> known, size_t most = 3);

// "; did you mean A, B?" or "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace hal::loader

// Choosing cases by their ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hal::conformance {

// `*` stands for any text and `?` for one character; everything else, brackets included, for itself.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

// The ids that are closest to a pattern that matches none, best first.
[[nodiscard]] std::vector<std::string> nearest(std::string_view pattern, const std::vector<std::string>& ids,
                                               size_t count);

}  // namespace hal::conformance

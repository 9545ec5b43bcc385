// What each case asserts, in one line of English and of Chinese. The lines are in titles_*.def, one for each id.
#pragma once

#include <string_view>
#include <vector>

namespace hal::conformance {

struct Title {
    std::string_view id;
    std::string_view en;
    std::string_view zh;
};

[[nodiscard]] const std::vector<Title>& all_titles();

// Of an id with or without its parameters; empty texts if it has none.
[[nodiscard]] Title title_of(std::string_view id);

}  // namespace hal::conformance

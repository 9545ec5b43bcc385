#include "filter.hpp"

#include <algorithm>
#include <cstddef>

namespace hal::conformance {

bool matches(std::string_view pattern, std::string_view text) {
    size_t p = 0;
    size_t t = 0;
    size_t star = std::string_view::npos;  // the last `*` and how far it reaches; going back to it alone is enough
    size_t reach = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            reach = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++reach;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

namespace {

// Edits that make `a` a part of `b`.
size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return *std::min_element(row.begin(), row.end());
}

}  // namespace

std::vector<std::string> nearest(std::string_view pattern, const std::vector<std::string>& ids, size_t count) {
    std::string wanted(pattern);
    std::erase(wanted, '*');
    std::vector<std::pair<size_t, std::string>> ranked;
    ranked.reserve(ids.size());
    for (const auto& id : ids) {
        ranked.emplace_back(edit_distance(wanted, id), id);
    }
    const size_t kept = std::min(count, ranked.size());
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept), ranked.end());
    std::vector<std::string> result;
    for (size_t i = 0; i < kept; ++i) {
        result.push_back(ranked[i].second);
    }
    return result;
}

}  // namespace hal::conformance

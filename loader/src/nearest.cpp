#include "nearest.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text.hpp"

namespace hal::loader {

namespace {

constexpr size_t longest_word = 256;

// Optimal string alignment distance; three rows suffice because a swap looks two rows back.
size_t edits(std::string_view a, std::string_view b) {
    using Row = std::array<size_t, longest_word + 1>;
    Row before_last{};
    Row last{};
    Row row{};
    for (size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const char x = ascii_lower(a[i - 1]);
            const char y = ascii_lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
            if (i > 1 && j > 1 && x == ascii_lower(b[j - 2]) && y == ascii_lower(a[i - 2])) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    return last[b.size()];
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string_view> known, size_t most) {
    if (word.empty() || word.size() > longest_word) {
        return {};
    }
    const size_t limit = std::max<size_t>(2, word.size() / 3);
    std::vector<std::pair<size_t, std::string_view>> found;
    for (const std::string_view name : known) {
        const size_t lengths = name.size() > word.size() ? name.size() - word.size() : word.size() - name.size();
        if (name.size() > longest_word || lengths > limit) {
            continue;
        }
        const size_t distance = edits(word, name);
        // Replacing every letter is no likeness.
        if (distance <= limit && distance < std::max(word.size(), name.size())) {
            found.emplace_back(distance, name);
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    found.resize(std::min(found.size(), most));
    std::vector<std::string> names;
    for (const auto& [distance, name] : found) {
        names.emplace_back(name);
    }
    return names;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
    std::string text;
    for (const std::string& name : nearest(word, known)) {
        text += text.empty() ? "; did you mean " : ", ";
        text += name;
    }
    return text.empty() ? text : text + "?";
}

}  // namespace hal::loader

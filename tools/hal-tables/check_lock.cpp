#include "check_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace hal::tool {

struct Line {
    size_t number;
    std::string_view text;
};
using Groups = std::map<std::string_view, std::vector<Line>, std::less<>>;

// "table 1.1" of a table's lines, "struct hal_host" of a struct's, "status", "state".
static std::string_view group_of(std::string_view line) {
    const size_t first = line.find(' ');
    const std::string_view kind = line.substr(0, first);
    return kind == "table" || kind == "struct" ? line.substr(0, line.find(' ', first + 1)) : kind;
}

// What stays the same when an entry, field or value changes: its name, before its parameters or size.
static std::string_view subject_of(std::string_view line) {
    line = line.substr(0, line.find('('));
    if (line.ends_with(" bytes")) {
        line = line.substr(0, line.rfind(' ', line.size() - 7));
    }
    return line.substr(line.rfind(' ') + 1);
}

static Groups groups_of(std::string_view lock) {
    Groups groups;
    for (size_t number = 1; !lock.empty(); ++number) {
        const size_t end = std::min(lock.find('\n'), lock.size());
        const std::string_view text = lock.substr(0, end);
        lock.remove_prefix(std::min(end + 1, lock.size()));
        if (!text.empty() && text.front() != '#') {
            groups[group_of(text)].push_back({number, text});
        }
    }
    return groups;
}

static std::string why(const Line& line, size_t place, const std::vector<Line>& now) {
    const auto same_subject = [&](const Line& other) { return subject_of(other.text) == subject_of(line.text); };
    const auto found = std::find_if(now.begin(), now.end(), same_subject);
    if (found == now.end()) {
        return "was removed or renamed; keep it, and append the new one";
    }
    const auto found_place = static_cast<size_t>(found - now.begin());
    if (found_place == place) {
        return fmt::format("is `{}` now: its signature, value or size changed; keep it, and append a new one",
                           found->text);
    }
    return fmt::format("has moved to `{}`; keep the order, and append at the end", found->text);
}

std::vector<std::string> broken_lines(std::string_view old_lock, std::string_view now, std::string_view name) {
    std::vector<std::string> broken;
    const Groups old_groups = groups_of(old_lock);
    const Groups now_groups = groups_of(now);
    static const std::vector<Line> none;
    for (const auto& [group, lines] : old_groups) {
        const auto found = now_groups.find(group);
        const auto& now_lines = found == now_groups.end() ? none : found->second;
        for (size_t place = 0; place < lines.size(); ++place) {
            if (place >= now_lines.size() || now_lines[place].text != lines[place].text) {
                broken.push_back(fmt::format("{}:{}: `{}` {}", name, lines[place].number, lines[place].text,
                                             why(lines[place], place, now_lines)));
            }
        }
    }
    return broken;
}

}  // namespace hal::tool

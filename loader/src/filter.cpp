#include "filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "environment.hpp"
#include "glob.hpp"
#include "log.hpp"
#include "nearest.hpp"
#include "search.hpp"
#include "text.hpp"

namespace hal::loader {

namespace {

class Patterns {
  public:
    Patterns(const Environment& environment, std::string_view variable) : variable_(variable) {
        for (const std::string_view text : list_elements(environment.get(variable).value_or(""), ',')) {
            patterns_.push_back({text, false});
        }
    }

    [[nodiscard]] bool empty() const { return patterns_.empty(); }
    [[nodiscard]] std::string_view variable() const { return variable_; }

    // The first pattern that fits, or size() of them. Every fitting one is remembered as used.
    size_t first_match(const Candidate& candidate) {
        const std::string file = base_name(candidate.manifest_path);
        size_t first = patterns_.size();
        for (size_t i = 0; i < patterns_.size(); ++i) {
            const auto fits = [&](const std::string& name) {
                return !name.empty() && glob_match(patterns_[i].text, name);
            };
            if (fits(candidate.manifest.id) || fits(file)) {
                patterns_[i].used = true;
                first = std::min(first, i);
            }
        }
        return first;
    }

    [[nodiscard]] size_t size() const { return patterns_.size(); }
    [[nodiscard]] std::string_view text(size_t index) const { return patterns_[index].text; }

    [[nodiscard]] std::vector<std::string_view> unused() const {
        std::vector<std::string_view> list;
        for (const Pattern& pattern : patterns_) {
            if (!pattern.used) {
                list.push_back(pattern.text);
            }
        }
        return list;
    }

  private:
    struct Pattern {
        std::string_view text;
        bool used;
    };
    std::string_view variable_;
    std::vector<Pattern> patterns_;
};

void exclude(Candidate& candidate, std::string cause, std::string_view variable) {
    if (!candidate.problem || candidate.problem->state != HAL_STATE_MASKED) {
        candidate.problem = Problem{HAL_STATE_FILTERED, HAL_ERROR_NOT_FOUND, "L072", std::move(cause),
                                    fmt::format("change {} to use it", variable)};
    }
}

std::string title(const Candidate& candidate) {
    return candidate.manifest.id.empty() ? candidate.manifest_path : "backend " + candidate.manifest.id;
}

// A backend of the application whose name is not known yet.
bool is_nameless(const Candidate& candidate) {
    return candidate.entry != nullptr && candidate.manifest.id.empty();
}

void select(Patterns& patterns, std::vector<Candidate>& candidates) {
    for (Candidate& candidate : candidates) {
        if (is_nameless(candidate)) {
            continue;
        }
        const size_t match = patterns.first_match(candidate);
        if (match < patterns.size()) {
            candidate.named = candidate.named || !is_glob(patterns.text(match));
        } else if (!patterns.empty()) {
            exclude(candidate, fmt::format("{}: not selected by {}", title(candidate), patterns.variable()),
                    patterns.variable());
        }
    }
}

void disable(Patterns& patterns, std::vector<Candidate>& candidates) {
    for (Candidate& candidate : candidates) {
        const size_t match = patterns.first_match(candidate);
        if (match < patterns.size()) {
            exclude(
                candidate,
                fmt::format("{}: disabled by '{}' in {}", title(candidate), patterns.text(match), patterns.variable()),
                patterns.variable());
        }
    }
}

void reorder(Patterns& patterns, std::vector<Candidate>& candidates) {
    std::vector<std::pair<size_t, Candidate>> keyed;
    keyed.reserve(candidates.size());
    for (Candidate& candidate : candidates) {
        const size_t match = patterns.first_match(candidate);
        keyed.emplace_back(match, std::move(candidate));
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(keyed.begin(), keyed.end(), candidates.begin(), [](auto& pair) { return std::move(pair.second); });
}

// One line a variable, however many patterns.
void warn_of_unused(const Patterns& patterns, const std::vector<Candidate>& candidates, Log& log) {
    const std::vector<std::string_view> unused = patterns.unused();
    if (unused.empty()) {
        return;
    }
    std::set<std::string_view> ids;
    for (const Candidate& candidate : candidates) {
        if (!candidate.manifest.id.empty()) {
            ids.insert(candidate.manifest.id);
        }
    }
    const std::vector<std::string_view> known(ids.begin(), ids.end());
    const std::string hint = unused.size() == 1 ? did_you_mean(unused.front(), known) : "";
    log.warn(fmt::format("L004 {}: '{}' {} none of: {}{}", patterns.variable(), fmt::join(unused, "', '"),
                         unused.size() == 1 ? "matches" : "match",
                         known.empty() ? "(no backend)" : fmt::format("{}", fmt::join(known, ", ")), hint));
}

}  // namespace

void apply_filters(const Environment& environment, std::vector<Candidate>& candidates, Log& log) {
    Patterns selected(environment, "HAL_BACKENDS_SELECT");
    Patterns disabled(environment, "HAL_BACKENDS_DISABLE");
    Patterns ordered(environment, "HAL_BACKENDS_ORDER");
    select(selected, candidates);
    disable(disabled, candidates);
    reorder(ordered, candidates);
    for (const Patterns* patterns : {&selected, &disabled, &ordered}) {
        warn_of_unused(*patterns, candidates, log);
    }
}

}  // namespace hal::loader

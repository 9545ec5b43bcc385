#include "goal.hpp"

#include <fmt/format.h>

namespace hal::bench {

bool Goal::needs_peer() const {
    return kind == GoalKind::ratio_at_most || kind == GoalKind::ratio_at_least || kind == GoalKind::excess_at_most;
}

std::string Goal::text(std::string_view unit) const {
    switch (kind) {
        case GoalKind::none:
            return {};
        case GoalKind::ratio_at_most:
            return fmt::format("<= {:.4g}x", bound);
        case GoalKind::ratio_at_least:
            return fmt::format(">= {:.4g}x", bound);
        case GoalKind::value_at_most:
            return fmt::format("<= {:.4g} {}", bound, unit);
        case GoalKind::value_at_least:
            return fmt::format(">= {:.4g} {}", bound, unit);
        case GoalKind::excess_at_most:
            return fmt::format("<= peer + {:.4g} {}", bound, unit);
    }
    return {};
}

std::optional<bool> reached(const Goal& goal, const Figures& figures) {
    switch (goal.kind) {
        case GoalKind::none:
            return std::nullopt;
        case GoalKind::ratio_at_most:
            return figures.ratio ? std::optional(*figures.ratio <= goal.bound) : std::nullopt;
        case GoalKind::ratio_at_least:
            return figures.ratio ? std::optional(*figures.ratio >= goal.bound) : std::nullopt;
        case GoalKind::value_at_most:
            return figures.ours <= goal.bound;
        case GoalKind::value_at_least:
            return figures.ours >= goal.bound;
        case GoalKind::excess_at_most:
            return figures.excess ? std::optional(*figures.excess <= goal.bound) : std::nullopt;
    }
    return std::nullopt;
}

}  // namespace hal::bench

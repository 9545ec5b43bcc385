// What a row of the benchmark is held to, and how a goal is judged.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "statistics.hpp"

namespace hal::bench {

enum class GoalKind {
    none,           // the row is information
    ratio_at_most,  // ours / peer
    ratio_at_least,
    value_at_most,  // ours, in the unit of the row
    value_at_least,
    excess_at_most,  // ours - peer, in the unit of the row
};

struct Goal {
    GoalKind kind = GoalKind::none;
    double bound = 0;

    // Can be judged only with a peer's figure.
    [[nodiscard]] bool needs_peer() const;

    // "<= 1.05x", ">= 15 M/s", "<= peer + 0.8 ns"; empty for none.
    [[nodiscard]] std::string text(std::string_view unit) const;
};

// What is compared with the bound; absent members could not be measured.
struct Figures {
    double ours = 0;
    std::optional<double> ratio;
    std::optional<double> excess;
};

// Absent when there is no goal or the figure that it needs.
[[nodiscard]] std::optional<bool> reached(const Goal& goal, const Figures& figures);

}  // namespace hal::bench

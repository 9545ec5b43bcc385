// Sums over ranks of numbers that round: what each rank gives, and how far from the exact sum a result may lie.
#pragma once

#include <optional>
#include <string>

#include "trial.hpp"

namespace hal::conformance {

struct RankSums {
    Element type;
    std::vector<std::vector<Real>> given;  // by rank, values of the type
    std::vector<Real> expected;            // not yet rounded
    std::vector<Real> allowed;             // a distance for each element
};

// All positive: a sum that cancels is allowed more than it is worth.
[[nodiscard]] RankSums rank_sums(const Element& type, int ranks, uint64_t count, const Random& random);

// What is wrong with results for the elements from `first` on, or nothing. Every one of them is looked at.
[[nodiscard]] std::optional<std::string> judge_sums(const RankSums& sums, uint64_t first,
                                                    const std::vector<uint8_t>& got);

}  // namespace hal::conformance

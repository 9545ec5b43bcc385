// What changed between two reports.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "model.hpp"

namespace hal::conformance {

struct Change {
    std::string id;
    Verdict before, after;
    std::string reason;  // of the later one
};

// Its intervals (5 % to 95 % of the samples) do not overlap: more than noise.
struct MetricChange {
    std::string id, metric, unit;
    double before = 0, after = 0;
};

struct Diff {
    std::vector<Change> regressions;  // was good, is bad or unknown
    std::vector<Change> fixes;        // was bad, is good
    std::vector<Change> others;       // changed in another way
    std::vector<std::string> vanished, added;
    std::vector<MetricChange> metrics;
};

[[nodiscard]] Diff diff(const Model& before, const Model& after);
void print_diff(std::ostream& out, const Diff& diff);
// Something is worse than before.
[[nodiscard]] bool worse(const Diff& diff);

}  // namespace hal::conformance

// Runs benchmarks: interleaves the contestants, frames them with probes, judges the result.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "benchmark.hpp"
#include "probe.hpp"
#include "settings.hpp"

namespace hal::bench {

enum class Verdict {
    reached,
    missed,
    inconclusive,  // the machine was not fit; never counted as missed
    information,   // no goal, or its peer is not here
    skipped,       // cannot be measured here
    error,         // a call failed
};
[[nodiscard]] std::string_view name(Verdict verdict);

// The samples of one contestant with their summary.
struct Side {
    std::vector<double> samples;
    double median = 0;
    double best = 0;
};

struct Row {
    Benchmark benchmark;  // without its samplers' state
    Side ours;
    std::optional<Side> peer;
    std::optional<double> ratio;       // median of the paired ratios
    std::optional<double> best_ratio;  // of the bests
    double spread = 0;                 // relative, of ours
    Verdict verdict = Verdict::skipped;
    std::string note;    // of the contest
    std::string reason;  // of an inconclusive, skipped or failed row
    ProbeResult before;
    ProbeResult after;
    int tries = 0;
};

// Takes `repetitions` samples of each, turn by turn; every other turn begins with the peer, so that neither always runs
// in the wake of the other. The first turn warms up and is dropped. `peer` may be empty; then `peer_samples` stays so.
void interleave(const Sampler& ours, const Sampler& peer, int repetitions, std::vector<double>& our_samples,
                std::vector<double>& peer_samples);

// Fills medians, ratios and the verdict from the samples. `spoiled` is why the run cannot be trusted, or empty.
void judge(Row& row, const std::string& spoiled);

// Measures one benchmark, again while the machine was not fit and tries are left. Throws nothing: a failure is in the
// row.
[[nodiscard]] Row measure(const Benchmark& benchmark, Context& context, Probe& probe, const Settings& settings);

// Why no figure of this build can be trusted ("not optimised", "sanitized"); empty if they can.
[[nodiscard]] std::string build_defect();

}  // namespace hal::bench

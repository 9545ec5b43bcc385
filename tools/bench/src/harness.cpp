#include "harness.hpp"

#include <exception>

namespace hal::bench {
namespace {

Side summary(std::vector<double> samples, Better better) {
    const double middle = median(samples);
    const double extreme = best(samples, better);
    return {std::move(samples), middle, extreme};
}

void measure_once(const Contest& contest, Probe& probe, const Settings& settings, Row& row) {
    std::vector<double> ours;
    std::vector<double> peer;
    row.before = probe.wait_quiet(settings.wait_quiet_s);
    interleave(contest.ours, contest.peer, settings.repetitions, ours, peer);
    row.after = probe.sample();
    ++row.tries;

    row.ours = summary(std::move(ours), row.benchmark.better);
    row.peer.reset();
    if (!peer.empty()) {
        row.peer = summary(std::move(peer), row.benchmark.better);
    }
    const std::string defect = build_defect();
    const bool timed = row.benchmark.timed;
    judge(row, !defect.empty() ? defect : timed ? contamination(row.before, row.after) : "");
}

}  // namespace

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::reached:
            return "reached";
        case Verdict::missed:
            return "missed";
        case Verdict::inconclusive:
            return "inconclusive";
        case Verdict::information:
            return "information";
        case Verdict::skipped:
            return "skipped";
        case Verdict::error:
            return "error";
    }
    return "error";
}

std::string build_defect() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return "sanitized build";
#elif !defined(__OPTIMIZE__)
    return "build without optimisation";
#else
    return {};
#endif
}

void interleave(const Sampler& ours, const Sampler& peer, int repetitions, std::vector<double>& our_samples,
                std::vector<double>& peer_samples) {
    for (int turn = 0; turn <= repetitions; ++turn) {
        const bool peer_first = turn % 2 == 1;
        double peer_figure = 0;
        if (peer && peer_first) {
            peer_figure = peer();
        }
        const double our_figure = ours();
        if (peer && !peer_first) {
            peer_figure = peer();
        }
        if (turn > 0) {
            our_samples.push_back(our_figure);
            if (peer) {
                peer_samples.push_back(peer_figure);
            }
        }
    }
}

void judge(Row& row, const std::string& spoiled) {
    Figures figures{.ours = row.ours.median, .ratio = std::nullopt, .excess = std::nullopt};
    row.spread = relative_spread(row.ours.samples);
    row.ratio.reset();
    row.best_ratio.reset();
    row.reason.clear();
    if (row.peer) {
        figures.excess = row.ours.median - row.peer->median;
        // A peer of 0 (no CPU time at all) has no ratio; the goal of such a row is an absolute one.
        if (best(row.peer->samples, Better::lower) > 0) {
            row.ratio = median(paired_ratios(row.ours.samples, row.peer->samples));
            row.best_ratio = row.ours.best / row.peer->best;
            figures.ratio = row.ratio;
        }
    }
    if (!spoiled.empty()) {
        row.verdict = Verdict::inconclusive;
        row.reason = spoiled;
        return;
    }
    const auto result = reached(row.benchmark.goal, figures);
    row.verdict = !result ? Verdict::information : *result ? Verdict::reached : Verdict::missed;
}

Row measure(const Benchmark& benchmark, Context& context, Probe& probe, const Settings& settings) {
    Row row;
    row.benchmark = benchmark;
    row.benchmark.prepare = nullptr;
    try {
        const Contest contest = benchmark.prepare(context);
        row.note = contest.note;
        do {
            measure_once(contest, probe, settings, row);
        } while (row.verdict == Verdict::inconclusive && row.tries <= settings.retries);
    } catch (const Unavailable& missing) {
        row.verdict = Verdict::skipped;
        row.reason = missing.what();
    } catch (const std::exception& failure) {
        row.verdict = Verdict::error;
        row.reason = failure.what();
    }
    return row;
}

}  // namespace hal::bench

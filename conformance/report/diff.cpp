#include "diff.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <ostream>
#include <sstream>

#include "escape.hpp"

namespace hal::conformance {
namespace {

bool good(Verdict verdict) {
    return verdict == Verdict::pass || verdict == Verdict::quality;
}

std::map<std::string_view, const TestResult*> by_id(const Model& model) {
    std::map<std::string_view, const TestResult*> result;
    for (const TestResult& test : model.tests) {
        result[test.id] = &test;
    }
    return result;
}

std::map<std::string, Metric> metrics_of(const TestResult& test) {
    std::map<std::string, Metric> result;
    if (const Attempt* last = test.last()) {
        for (const Metric& metric : last->metrics) {
            result[metric.name] = metric;
        }
    }
    return result;
}

// "median" with "p5" and "p95" beside it, or "<anything> median" with those of the same beginning.
void compare_metrics(Diff& result, const TestResult& before, const TestResult& after) {
    const auto old_ones = metrics_of(before);
    const auto new_ones = metrics_of(after);
    constexpr std::string_view middle = "median";
    for (const auto& [name, metric] : new_ones) {
        const auto old_one = old_ones.find(name);
        if (!name.ends_with(middle) || old_one == old_ones.end()) {
            continue;
        }
        const std::string head = name.substr(0, name.size() - middle.size());
        const auto edge = [&](const std::map<std::string, Metric>& of, const char* which, double fallback) {
            const auto found = of.find(head + which);
            return found == of.end() ? fallback : found->second.value;
        };
        const double was = old_one->second.value;
        const bool above = edge(new_ones, "p5", metric.value) > edge(old_ones, "p95", was);
        const bool below = edge(new_ones, "p95", metric.value) < edge(old_ones, "p5", was);
        if (above || below) {
            result.metrics.push_back({after.id, name, metric.unit, was, metric.value});
        }
    }
}

void print(std::ostream& out, const char* title, const std::vector<Change>& changes) {
    for (const Change& change : changes) {
        out << title << ": " << change.id << ": " << name(change.before) << " -> " << name(change.after);
        if (!change.reason.empty()) {
            out << ": " << one_line(change.reason, 300);
        }
        out << '\n';
    }
}

}  // namespace

Diff diff(const Model& before, const Model& after) {
    Diff result;
    const auto old_tests = by_id(before);
    const auto new_tests = by_id(after);
    for (const auto& [id, test] : new_tests) {
        const auto found = old_tests.find(id);
        if (found == old_tests.end()) {
            result.added.emplace_back(id);
            continue;
        }
        const TestResult& old_test = *found->second;
        compare_metrics(result, old_test, *test);
        const Verdict was = old_test.verdict();
        const Verdict is = test->verdict();
        if (was != is) {
            const bool regressed = good(was) && !good(is);
            const bool fixed = bad(was) && good(is);
            (regressed ? result.regressions
             : fixed   ? result.fixes
                       : result.others)
                .push_back({test->id, was, is, test->judgement.reason});
        }
    }
    for (const auto& [id, test] : old_tests) {
        if (!new_tests.contains(id)) {
            result.vanished.emplace_back(id);
        }
    }
    return result;
}

void print_diff(std::ostream& out, const Diff& diff) {
    print(out, "regression", diff.regressions);
    print(out, "fixed", diff.fixes);
    print(out, "changed", diff.others);
    for (const std::string& id : diff.vanished) {
        out << "vanished: " << one_line(id) << '\n';
    }
    for (const std::string& id : diff.added) {
        out << "new: " << one_line(id) << '\n';
    }
    for (const MetricChange& change : diff.metrics) {
        out << "metric: " << change.id << ' ' << one_line(change.metric) << ": " << change.before << " -> "
            << change.after << ' ' << one_line(change.unit) << " (x " << std::setprecision(3)
            << change.after / change.before << std::setprecision(6) << ")\n";
    }
    out << diff.regressions.size() << " regressions, " << diff.fixes.size() << " fixed, " << diff.others.size()
        << " changed otherwise, " << diff.vanished.size() << " vanished, " << diff.added.size() << " new, "
        << diff.metrics.size() << " metrics changed\n";
}

bool worse(const Diff& diff) {
    const auto is_bad = [](const Change& change) { return bad(change.after); };
    return !diff.regressions.empty() || !diff.vanished.empty() ||
           std::any_of(diff.others.begin(), diff.others.end(), is_bad);
}

}  // namespace hal::conformance

#include "harness.hpp"

#include <catch2/catch.hpp>

using namespace hal::bench;

namespace {

Benchmark benchmark_with(Goal goal, Better better = Better::lower) {
    return {"test/row", "ours", "peer", "ns", better, goal, nullptr};
}

Row row_of(const Benchmark& benchmark, std::vector<double> ours, std::vector<double> peer) {
    Row row;
    row.benchmark = benchmark;
    const auto side = [&](std::vector<double> samples) {
        return Side{samples, median(samples), best(samples, benchmark.better)};
    };
    row.ours = side(std::move(ours));
    if (!peer.empty()) {
        row.peer = side(std::move(peer));
    }
    return row;
}

}  // namespace

TEST_CASE("turns alternate who begins, and the first turn is dropped") {
    std::string order;
    int next = 0;
    std::vector<double> ours;
    std::vector<double> peer;
    interleave([&] { return order += 'o', next++; }, [&] { return order += 'p', next++; }, 3, ours, peer);
    CHECK(order == "oppooppo");
    CHECK(ours == std::vector<double>{3, 4, 7});
    CHECK(peer == std::vector<double>{2, 5, 6});
}

TEST_CASE("without a peer only our side is sampled") {
    std::vector<double> ours;
    std::vector<double> peer;
    interleave([] { return 1.0; }, {}, 7, ours, peer);
    CHECK(ours.size() == 7);
    CHECK(peer.empty());
}

TEST_CASE("verdicts") {
    const auto goal = benchmark_with({GoalKind::ratio_at_most, 1.05});
    SECTION("reached") {
        auto row = row_of(goal, {10, 10, 10}, {10, 10, 10});
        judge(row, "");
        CHECK(row.verdict == Verdict::reached);
        CHECK(row.ratio == Approx(1));
    }
    SECTION("missed") {
        auto row = row_of(goal, {12, 12, 12}, {10, 10, 10});
        judge(row, "");
        CHECK(row.verdict == Verdict::missed);
        CHECK(row.best_ratio == Approx(1.2));
    }
    SECTION("a spoiled run is inconclusive, even where the goal was missed or reached") {
        for (const double figure : {10.0, 99.0}) {
            auto row = row_of(goal, {figure, figure, figure}, {10, 10, 10});
            judge(row, "others used 0.5 cores");
            CHECK(row.verdict == Verdict::inconclusive);
            CHECK(row.reason == "others used 0.5 cores");
        }
    }
    SECTION("no goal is information") {
        auto row = row_of(benchmark_with({}), {10, 10, 10}, {10, 10, 10});
        judge(row, "");
        CHECK(row.verdict == Verdict::information);
    }
    SECTION("a goal whose peer is absent is information") {
        auto row = row_of(goal, {10, 10, 10}, {});
        judge(row, "");
        CHECK(row.verdict == Verdict::information);
        CHECK_FALSE(row.ratio.has_value());
    }
    SECTION("a peer of 0 leaves the absolute goal to be judged") {
        auto row = row_of(benchmark_with({GoalKind::value_at_most, 1}), {0.1, 0.1, 0.1}, {0, 0, 0});
        judge(row, "");
        CHECK(row.verdict == Verdict::reached);
        CHECK_FALSE(row.ratio.has_value());
    }
}

TEST_CASE("higher is better: the best is the largest") {
    auto row = row_of(benchmark_with({GoalKind::ratio_at_least, 50}, Better::higher), {100, 120, 110}, {2, 2, 2});
    judge(row, "");
    CHECK(row.ours.best == 120);
    CHECK(row.ratio == Approx(55));
    CHECK(row.best_ratio == Approx(60));
    CHECK(row.verdict == Verdict::reached);
}

TEST_CASE("a contaminated probe says why") {
    const ProbeResult clean{.round_trip_ns = 120, .foreign_cpu = 0.01};
    CHECK(contamination(clean, clean).empty());
    CHECK(contamination(clean, {.round_trip_ns = 700, .foreign_cpu = 0}) == "cache-line round trip of 700 ns");
    CHECK(contamination({.round_trip_ns = 700, .foreign_cpu = 0}, clean) == "cache-line round trip of 700 ns");
    CHECK(contamination(clean, {.round_trip_ns = 120, .foreign_cpu = 0.5}) == "others used 0.5 cores");
    CHECK(contamination({.round_trip_ns = std::nullopt, .foreign_cpu = 0}, clean) == "one core only");
}

TEST_CASE("work of others before the first probe does not spoil the run after it") {
    CHECK(contamination({.round_trip_ns = 120, .foreign_cpu = 1.5}, {.round_trip_ns = 120, .foreign_cpu = 0}).empty());
}

TEST_CASE("a probe sees the machine") {
    Probe probe;
    const ProbeResult result = probe.sample();
    if (result.round_trip_ns) {
        CHECK(*result.round_trip_ns > 0);
    }
    CHECK(result.foreign_cpu >= 0);
}

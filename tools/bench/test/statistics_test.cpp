#include "statistics.hpp"

#include <catch2/catch.hpp>

#include "goal.hpp"

using namespace hal::bench;

TEST_CASE("median of odd, even and single sample counts") {
    CHECK(median(std::vector<double>{3, 1, 2}) == 2);
    CHECK(median(std::vector<double>{4, 1, 3, 2}) == Approx(2.5));
    CHECK(median(std::vector<double>{7}) == 7);
    CHECK_THROWS_AS(median(std::vector<double>{}), std::invalid_argument);
}

TEST_CASE("one outlier moves neither the median nor the best of the other side") {
    const std::vector<double> samples{10, 11, 10, 11, 500};
    CHECK(median(samples) == 11);
    CHECK(best(samples, Better::lower) == 10);
    CHECK(best(samples, Better::higher) == 500);
}

TEST_CASE("paired ratios cancel a slow phase that hits both sides") {
    // The machine is three times slower in the second half.
    const auto ratios = paired_ratios(std::vector<double>{2, 2, 6, 6}, std::vector<double>{1, 1, 3, 3});
    CHECK(ratios == std::vector<double>{2, 2, 2, 2});
}

TEST_CASE("paired ratios refuse what has no ratio") {
    CHECK_THROWS_AS(paired_ratios(std::vector<double>{1, 2}, std::vector<double>{1}), std::invalid_argument);
    CHECK_THROWS_AS(paired_ratios(std::vector<double>{1}, std::vector<double>{0}), std::invalid_argument);
}

TEST_CASE("spread is half of the quartiles' distance over the median") {
    CHECK(relative_spread(std::vector<double>{5, 5, 5}) == 0);
    CHECK(relative_spread(std::vector<double>{8, 9, 10, 11, 12}) == Approx(0.1));
    CHECK(relative_spread(std::vector<double>{0, 0, 0}) == 0);
}

TEST_CASE("goals are judged on their own figure") {
    const Figures figures{.ours = 12, .ratio = 1.2, .excess = 2};
    CHECK(reached({GoalKind::ratio_at_most, 1.2}, figures) == true);
    CHECK(reached({GoalKind::ratio_at_most, 1.1}, figures) == false);
    CHECK(reached({GoalKind::ratio_at_least, 1.2}, figures) == true);
    CHECK(reached({GoalKind::ratio_at_least, 1.3}, figures) == false);
    CHECK(reached({GoalKind::value_at_most, 12}, figures) == true);
    CHECK(reached({GoalKind::value_at_most, 11}, figures) == false);
    CHECK(reached({GoalKind::value_at_least, 12}, figures) == true);
    CHECK(reached({GoalKind::value_at_least, 13}, figures) == false);
    CHECK(reached({GoalKind::excess_at_most, 2}, figures) == true);
    CHECK(reached({GoalKind::excess_at_most, 1.9}, figures) == false);
    CHECK_FALSE(reached({GoalKind::none, 0}, figures).has_value());
}

TEST_CASE("a goal that needs a peer is not judged without one") {
    const Figures alone{.ours = 12, .ratio = std::nullopt, .excess = std::nullopt};
    for (const GoalKind kind : {GoalKind::ratio_at_most, GoalKind::ratio_at_least, GoalKind::excess_at_most}) {
        CHECK_FALSE(reached({kind, 1}, alone).has_value());
    }
    CHECK(reached({GoalKind::value_at_most, 20}, alone) == true);
}

TEST_CASE("a goal says what it wants") {
    CHECK((Goal{GoalKind::ratio_at_most, 1.05}.text("ns")) == "<= 1.05x");
    CHECK((Goal{GoalKind::value_at_least, 15}.text("M/s")) == ">= 15 M/s");
    CHECK((Goal{GoalKind::excess_at_most, 0.8}.text("ns")) == "<= peer + 0.8 ns");
    CHECK(Goal{}.text("ns").empty());
}

#include "harness/verdict.hpp"

#include <catch2/catch.hpp>

#include "harness/recorder.hpp"

using namespace hal::conformance;

TEST_CASE("a verdict only gets worse, for every pair") {
    const Verdict from_worst[] = {Verdict::harness_error,  Verdict::crash,          Verdict::hang,
                                  Verdict::fail,           Verdict::flaky,          Verdict::blocked,
                                  Verdict::not_run,        Verdict::quality,        Verdict::pass,
                                  Verdict::not_applicable, Verdict::not_implemented};
    for (size_t i = 0; i < verdict_count; ++i) {
        for (size_t j = 0; j < verdict_count; ++j) {
            CHECK(worse(from_worst[i], from_worst[j]) == from_worst[std::min(i, j)]);
        }
    }
}

TEST_CASE("the exit status names the highest-ranking cause") {
    Totals totals;
    totals.add(Verdict::pass);
    totals.add(Verdict::not_applicable);
    totals.add(Verdict::not_implemented);
    totals.add(Verdict::quality);
    CHECK(exit_status(totals) == 0);
    for (const Verdict verdict : {Verdict::fail, Verdict::crash, Verdict::hang, Verdict::flaky, Verdict::blocked}) {
        Totals one;
        one.add(verdict);
        CHECK(exit_status(one) == 1);
    }
    totals.add(Verdict::fail);
    CHECK(exit_status(totals) == 1);
    totals.add(Verdict::not_run);
    CHECK(exit_status(totals) == 4);
    totals.add(Verdict::harness_error);
    CHECK(exit_status(totals) == 6);
}

TEST_CASE("every verdict has a name of its own") {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < verdict_count; ++i) {
        names.push_back(name(static_cast<Verdict>(i)));
    }
    CHECK(names.front() == "NOT_IMPLEMENTED");
    CHECK(names.back() == "HARNESS_ERROR");
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

TEST_CASE("no check is a harness error, a failed one is counted, an inconclusive run is no verdict on the plug-in") {
    Recorder none;
    CHECK(none.outcome(false).verdict == Verdict::harness_error);
    CHECK(none.outcome(true).verdict == Verdict::harness_error);

    Recorder some;
    some.passed();
    CHECK(some.outcome(false).verdict == Verdict::pass);
    for (int i = 0; i < 7; ++i) {
        some.failed({"here", "what", "1", "2"});
    }
    CHECK(some.outcome(false).verdict == Verdict::fail);
    CHECK(some.outcome(true).verdict == Verdict::quality);
    CHECK(some.outcome(false).checks_ok == 1);
    CHECK(some.outcome(false).checks_bad == 7);
    CHECK(some.outcome(false).findings.size() == 5);

    some.inconclusive("too slow");
    CHECK(some.outcome(false).verdict == Verdict::harness_error);
    CHECK(some.outcome(false).reason == "too slow");
}

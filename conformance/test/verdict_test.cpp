#include <catch2/catch.hpp>

#include "engine/judge.hpp"

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

TEST_CASE("every verdict has a name of its own") {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < verdict_count; ++i) {
        names.push_back(name(static_cast<Verdict>(i)));
    }
    CHECK(names.front() == "NOT_IMPLEMENTED");
    CHECK(names.back() == "HARNESS_ERROR");
    for (const std::string_view one : names) {
        CHECK(name(verdict_of(one)) == one);
    }
    CHECK_THROWS_AS(verdict_of("PASSED"), std::invalid_argument);
    std::sort(names.begin(), names.end());
    CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}

namespace {

Judgement judged(const Attempt& attempt, enum authority authority = authority::A) {
    return judge(authority, std::span(&attempt, 1));
}

Attempt good_attempt() {
    Attempt attempt;
    attempt.record.checks_ok = 3;
    return attempt;
}

Attempt with(enum authority authority) {
    Attempt attempt = good_attempt();
    attempt.record.checks_bad[static_cast<size_t>(authority)] = 1;
    return attempt;
}

Attempt ended(Ending::Kind kind, int code) {
    Attempt attempt = good_attempt();
    attempt.ending = {kind, code, "memory_copy_h2d", ""};
    return attempt;
}

}  // namespace

TEST_CASE("a recorder keeps the first findings and counts all, by authority") {
    size_t told = 0;
    Recorder some([&](const Finding&) { ++told; });
    some.passed();
    for (int i = 0; i < 7; ++i) {
        some.failed({"here", std::string(5000, 'x'), "1", "2", i < 6 ? authority::S : authority::Q});
    }
    const Record record = some.record();
    CHECK(record.checks_ok == 1);
    CHECK(record.bad() == 7);
    CHECK(record.checks_bad[static_cast<size_t>(authority::S)] == 6);
    CHECK(record.findings.size() == 5);
    CHECK(record.findings[0].what.size() == 2000);
    CHECK(told == 5);
}

TEST_CASE("a case is judged by its checks") {
    CHECK(judged(good_attempt()).verdict == Verdict::pass);
    CHECK(judged(Attempt{}).verdict == Verdict::harness_error);  // no check
    CHECK(judged(with(authority::S)).verdict == Verdict::fail);
    CHECK(judged(with(authority::S)).breaks_standard);
    CHECK(judged(with(authority::D)).breaks_standard);
    CHECK(judged(with(authority::A)).verdict == Verdict::fail);
    CHECK_FALSE(judged(with(authority::A), authority::S).breaks_standard);
    CHECK(judged(with(authority::Q)).verdict == Verdict::quality);

    Attempt inconclusive = good_attempt();
    inconclusive.record.inconclusive = "too slow";
    CHECK(judged(inconclusive).verdict == Verdict::harness_error);
    Attempt ours = with(authority::S);
    ours.record.harness_error = "absent";
    CHECK(judged(ours).verdict == Verdict::harness_error);
}

TEST_CASE("what a plug-in writes and leaves behind counts") {
    Attempt out = good_attempt();
    out.stdout_bytes = 1;
    CHECK(judged(out, authority::S).verdict == Verdict::fail);
    CHECK_FALSE(judged(out, authority::S).breaks_standard);
    Attempt err = good_attempt();
    err.stderr_bytes = 1;
    CHECK(judged(err).verdict == Verdict::quality);
    Attempt child = good_attempt();
    child.children_left = 1;
    CHECK(judged(child).verdict == Verdict::fail);
}

TEST_CASE("a worker that does not come to the end of the case is never a pass") {
    CHECK(judged(ended(Ending::Kind::exited, 0)).verdict == Verdict::crash);
    CHECK(judged(ended(Ending::Kind::signalled, 11)).verdict == Verdict::crash);
    CHECK(judged(ended(Ending::Kind::signalled, 11)).reason == "died of SIGSEGV, in memory_copy_h2d");
    CHECK(judged(ended(Ending::Kind::limit, 0)).verdict == Verdict::hang);
    CHECK(judged(ended(Ending::Kind::refused, 0)).verdict == Verdict::harness_error);
    CHECK(judge(authority::A, {}).verdict == Verdict::not_run);
    CHECK(judged(ended(Ending::Kind::limit, 0), authority::D).breaks_standard);
    CHECK_FALSE(judged(ended(Ending::Kind::limit, 0), authority::Q).breaks_standard);
}

TEST_CASE("repetitions that differ are FLAKY, and all outcomes are told") {
    const Judgement pass;
    const Judgement fail{Verdict::fail, true, "why"};
    const Judgement crash{Verdict::crash, false, "died"};
    CHECK(repeated(std::array{pass, pass}).verdict == Verdict::pass);
    CHECK(repeated(std::array{fail, crash}).verdict == Verdict::crash);
    const Judgement flaky = repeated(std::array{pass, fail, pass});
    CHECK(flaky.verdict == Verdict::flaky);
    CHECK(flaky.breaks_standard);
    CHECK(flaky.reason == "2 PASS, 1 FAIL of the same case; the worst: why");
    CHECK(repeated(std::array{pass, Judgement{Verdict::harness_error, false, ""}}).verdict == Verdict::harness_error);
}

// Whole runs of the engine against a plug-in that is right, and against the ways in which it can be wrong.
#include <catch2/catch.hpp>

#include "engine/in_process.hpp"
#include "engine/judge.hpp"
#include "fake_backend.hpp"

using namespace hal::conformance;
using std::chrono::milliseconds;

namespace {

// Generous where something must happen, small where the test waits for a limit to pass.
Limits test_limits() {
    Limits limits;
    limits.closed_look = milliseconds(20);
    return limits;
}

struct Outcome : Judgement, Record {};

Outcome run(void (*body)(Test&), const FakeBehaviour& behaviour = {}, const Limits& limits = test_limits(),
            enum authority authority = authority::A) {
    set_behaviour(behaviour);
    Case one;
    one.id = "45079.X.test.norm.engine";
    one.body = body;
    one.authority = authority;
    const Target target = fake_target();
    const Attempt attempt =
        run_in_process(expand(one).at(0), target, introduce(target).facts, 1, limits, Environment::now());
    return {{judge(authority, std::span(&attempt, 1))}, {attempt.record}};
}

}  // namespace

TEST_CASE("a case passes with checks, and is a harness error without") {
    CHECK(run([](Test& t) { t.ok(t.api.set_device(0)); }).verdict == Verdict::pass);
    const Outcome none = run([](Test&) {});
    CHECK(none.verdict == Verdict::harness_error);
    CHECK(none.reason == "the case made no check");
    // Set-up alone is no check.
    CHECK(run([](Test& t) { t.sync(nullptr); }).verdict == Verdict::harness_error);
}

TEST_CASE("a failed check is counted and told, and the body goes on") {
    const Outcome outcome = run([](Test& t) {
        const auto in = t.context("size", 7);
        t.eq(3, 4, "the answer");
        t.ok(t.api.set_device(0));
        t.ok(t.api.set_device(5));
    });
    CHECK(outcome.verdict == Verdict::fail);
    CHECK(outcome.checks_ok == 1);
    CHECK(outcome.bad() == 2);
    REQUIRE(outcome.findings.size() == 2);
    CHECK(outcome.findings[0].what == "size=7 the answer");
    CHECK(outcome.findings[0].expected == "3");
    CHECK(outcome.findings[0].got == "4");
    CHECK(outcome.findings[0].where.find("engine_test.cpp:") == 0);
    CHECK(outcome.findings[1].got == "HAL_ERROR_INVALID_DEVICE: the fake says so");
}

TEST_CASE("authority Q never fails a plug-in") {
    CHECK(run([](Test& t) { t.check(false, "slow"); }, {}, test_limits(), authority::Q).verdict == Verdict::quality);
}

TEST_CASE("a refusal must be the right one and have a text") {
    const auto body = [](Test& t) { t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(9); }); };
    CHECK(run(body).verdict == Verdict::pass);
    FakeBehaviour silent;
    silent.silent_errors = true;
    CHECK(run(body, silent).verdict == Verdict::fail);
    CHECK(run([](Test& t) { t.fails(HAL_ERROR_BUSY, [&] { return t.api.set_device(9); }); }).verdict == Verdict::fail);
    CHECK(run([](Test& t) { t.fails(HAL_ERROR_BUSY, [&] { return t.api.set_device(0); }); }).verdict == Verdict::fail);
}

TEST_CASE("an entry that is not there is the suite's fault") {
    const Outcome outcome = run([](Test& t) { t.ok(t.api.create_stream(0, nullptr, nullptr)); });
    CHECK(outcome.verdict == Verdict::harness_error);
    CHECK(outcome.reason.find("create_stream") != std::string::npos);
}

TEST_CASE("gates: a right plug-in passes, one whose synchronize returns early is caught") {
    const auto body = [](Test& t) {
        const Gate gate = t.gate(nullptr);
        Helper wait = t.blocks([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, gate);
        gate.open();
        t.ok(wait.status());
    };
    CHECK(run(body).verdict == Verdict::pass);
    FakeBehaviour early;
    early.sync_returns_early = true;
    const Outcome outcome = run(body, early);
    CHECK(outcome.verdict == Verdict::fail);
    CHECK(outcome.bad() == 1);
}

TEST_CASE("a call that must not wait is caught waiting") {
    Limits limits = test_limits();
    limits.callback_entry = milliseconds(50);
    const Outcome outcome = run(
        [](Test& t) {
            const Gate gate = t.gate(nullptr);
            t.ok(t.returns([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, gate));
        },
        {}, limits);
    CHECK(outcome.verdict == Verdict::fail);
}

TEST_CASE("a gate that opens itself is no verdict on the plug-in") {
    Limits limits = test_limits();
    limits.gate_hold = milliseconds(1);
    const Outcome outcome = run(
        [](Test& t) {
            const Gate gate = t.gate(nullptr);
            Helper wait = t.blocks([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, gate);
            t.ok(wait.status());
        },
        {}, limits);
    CHECK(outcome.verdict == Verdict::harness_error);
    CHECK(outcome.inconclusive == "the gate opened itself before the look");
}

TEST_CASE("a callback that never comes is a failure of the plug-in") {
    Limits limits = test_limits();
    limits.callback_entry = milliseconds(20);
    FakeBehaviour lost;
    lost.callbacks = Callbacks::never;
    const Outcome outcome = run([](Test& t) { t.gate(nullptr).open(); }, lost, limits);
    CHECK(outcome.verdict == Verdict::fail);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].what == "the callback of a gate");
}

TEST_CASE("what goes wrong after the body counts too") {
    FakeBehaviour refuses;
    refuses.refuses_finalize = true;
    const Outcome outcome = run([](Test& t) { t.check(true, "fine"); }, refuses);
    CHECK(outcome.verdict == Verdict::fail);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].what == "finalize after the case");
    CHECK(run([](Test& t) {
              t.check(true, "fine");
              t.host(10).data()[10] = 0;
          }).verdict == Verdict::fail);
}

TEST_CASE("threads of a case report, and what they throw is not lost") {
    const Outcome outcome = run([](Test& t) { t.threads(8, [&](int i) { t.check(i != 3, "not the third"); }); });
    CHECK(outcome.checks_ok == 7);
    CHECK(outcome.bad() == 1);
    CHECK(run([](Test& t) { t.threads(2, [](int) { throw HarnessError("inside"); }); }).reason == "inside");
}

TEST_CASE("data depend on the seed and the case, and on nothing else") {
    static std::vector<uint64_t> seen;
    seen.clear();
    const auto body = [](Test& t) {
        seen.push_back(t.random());
        t.check(true, "fine");
    };
    (void)run(body);
    (void)run(body);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0] == seen[1]);
}

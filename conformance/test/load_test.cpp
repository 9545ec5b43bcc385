// The gate of a plug-in without callbacks: what it catches, and that it says nothing when it cannot know.
#include "harness/load.hpp"

#include <catch2/catch.hpp>

#include "engine/in_process.hpp"
#include "fake_backend.hpp"

using namespace hal::conformance;
using std::chrono::milliseconds;

namespace {

Record run_gated(void (*body)(Test&), FakeBehaviour behaviour = {}) {
    behaviour.callbacks = Callbacks::absent;
    set_behaviour(behaviour);
    Load::forget_measures();
    Case one;
    one.id = "45079.X.test.norm.load";
    one.body = body;
    const Target target = fake_target();
    return run_in_process(expand(one).at(0), target, introduce(target).facts, 1, Limits{}, Environment::now()).record;
}

bool right(const Record& record) {
    return record.bad() == 0 && record.checks_ok != 0 && record.inconclusive.empty() && record.harness_error.empty();
}

void waits_for_device(Test& t) {
    const Gate gate = t.gate(nullptr);
    Helper wait = t.blocks([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, gate);
    gate.open();
    t.ok(wait.status());
}

}  // namespace

TEST_CASE("a load gates a right plug-in and catches one whose synchronize returns early") {
    CHECK(right(run_gated(waits_for_device)));
    FakeBehaviour early;
    early.sync_returns_early = true;
    const Record record = run_gated(waits_for_device, early);
    CHECK(record.inconclusive.empty());
    REQUIRE(record.findings.size() == 1);
    CHECK(record.findings[0].what == "the call waits while the gate is closed");
}

TEST_CASE("an enqueue returns behind a load; a call that waits for it is no verdict") {
    CHECK(right(run_gated([](Test& t) {
        const hal_event event = t.event();
        const Gate gate = t.gate(nullptr);
        t.ok(t.returns([&] { return t.api.record_event(0, nullptr, event); }, gate));
    })));
    const Record waited = run_gated([](Test& t) {
        const Gate gate = t.gate(nullptr);
        t.ok(t.returns([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, gate));
    });
    CHECK(waited.bad() == 0);
    CHECK_FALSE(waited.inconclusive.empty());
}

TEST_CASE("a look that comes too late is inconclusive") {
    const Record record = run_gated([](Test& t) {
        const Gate gate = t.gate(nullptr);
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));  // as if the machine had been busy
        Helper wait = t.blocks([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, gate);
        t.ok(wait.status());
    });
    CHECK(record.bad() == 0);
    CHECK(record.inconclusive == "the load of the gate may have ended before the look");
}

TEST_CASE("a load that ran faster than measured accuses nobody") {
    FakeBehaviour faster;
    faster.copy_takes = milliseconds(4);
    faster.fast_after = 48;  // what warming up and measuring take
    // A busy machine may stretch the fast copies to what was measured; then the gate holds and all is well.
    bool noticed = false;
    for (int attempt = 0; attempt < 20 && !noticed; ++attempt) {
        const Record record = run_gated(waits_for_device, faster);
        CHECK((record.bad() == 0 || !record.inconclusive.empty()));  // what an inconclusive run found does not count
        noticed = record.inconclusive == "the load of a gate was shorter than measured";
    }
    CHECK(noticed);
}

TEST_CASE("copies that do nothing are a failure, copies inside their calls make no gate") {
    FakeBehaviour lazy;
    lazy.copies = Copies::never;
    const Record record = run_gated(waits_for_device, lazy);
    CHECK(record.inconclusive.empty());
    REQUIRE_FALSE(record.findings.empty());
    CHECK(record.findings[0].what == "data of asynchronous copies after every kind of wait");
    FakeBehaviour inside;
    inside.copies = Copies::inside_the_call;
    CHECK(run_gated(waits_for_device, inside).inconclusive.find("inline_copies") != std::string::npos);
}

TEST_CASE("a gate needs callbacks, or copies of memory that can be written and read") {
    Facts facts;
    CHECK(unmet(a_gate, facts));
    facts.present[static_cast<size_t>(E::stream_add_callback)] = true;
    CHECK_FALSE(unmet(a_gate, facts));
    facts.present.reset();
    for (const E entry : {E::device_memory_allocate, E::device_memory_deallocate, E::memory_copy_h2d,
                          E::memory_copy_d2h, E::synchronize_device}) {
        facts.present[static_cast<size_t>(entry)] = true;
    }
    CHECK(unmet(a_gate, facts));
    facts.present[static_cast<size_t>(E::async_memory_copy_h2d)] = true;
    CHECK_FALSE(unmet(a_gate, facts));
    facts.behaviour.insert("inline_copies");
    CHECK(unmet(a_gate, facts));
}

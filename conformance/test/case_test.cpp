#include "harness/case.hpp"

#include <catch2/catch.hpp>

#include "engine/judge.hpp"

using namespace hal::conformance;

namespace {

void body(Test&) {}

Case good_case() {
    Case one;
    one.id = "45079.T4.record_event.order.not_early";
    one.file = "f.cpp";
    one.line = 1;
    one.body = &body;
    one.clauses = {"45079/T4.3"};
    one.needs = {need_entry(E::record_event)};
    return one;
}

Facts facts_with(std::initializer_list<E> present) {
    Facts facts;
    facts.device_count = 1;
    for (const E entry : present) {
        facts.present[static_cast<size_t>(entry)] = true;
    }
    return facts;
}

}  // namespace

TEST_CASE("a good registration has no fault, each damage has one") {
    CHECK(catalogue_faults({good_case()}).empty());
    CHECK(catalogue_faults({good_case(), good_case()}).size() == 1);
    auto damaged = good_case();
    damaged.clauses.clear();
    CHECK(catalogue_faults({damaged}).size() == 1);
    damaged = good_case();
    damaged.needs.clear();
    CHECK(catalogue_faults({damaged}).size() == 1);
    for (const auto id :
         {"45079.T4.record_event.Order.not_early", "45079.T4.record_event.order", "45079.T4.record event.order.x",
          "45079.T4.no_such_entry.order.x", "45079.T4.record_event.nothing.x"}) {
        damaged = good_case();
        damaged.id = id;
        CHECK(!catalogue_faults({damaged}).empty());
    }
}

TEST_CASE("axes multiply, and their values add needs") {
    auto one = good_case();
    one.axes = {over("src", {"a", Value("b", {devices(2)})}), over("n", {"1", "2", "3"})};
    const auto instances = expand(one);
    REQUIRE(instances.size() == 6);
    CHECK(instances[0].id == "45079.T4.record_event.order.not_early[src=a,n=1]");
    CHECK(instances[5].id == "45079.T4.record_event.order.not_early[src=b,n=3]");
    CHECK(instances[5].needs.size() == 2);
    CHECK(instances[5].params.at("n") == "3");
    CHECK(expand(good_case()).at(0).id == good_case().id);
}

TEST_CASE("whether a case applies is decided from facts alone") {
    auto one = good_case();
    one.needs.push_back(need_entry(E::create_stream));
    one.needs.push_back(devices(2));
    const Instance instance = expand(one).at(0);

    const auto absent = not_applicable(instance, facts_with({E::create_stream}));
    REQUIRE(absent);
    CHECK(absent->verdict == Verdict::blocked);  // record_event is mandatory

    const auto helper_absent = not_applicable(instance, facts_with({E::record_event}));
    REQUIRE(helper_absent);
    CHECK(helper_absent->verdict == Verdict::not_applicable);
    CHECK(helper_absent->reason == "needs create_stream");

    auto facts = facts_with({E::record_event, E::create_stream});
    CHECK(not_applicable(instance, facts)->reason == "needs 2 devices, there are 1");
    facts.device_count = 2;
    CHECK_FALSE(not_applicable(instance, facts));

    auto optional = good_case();
    optional.id = "45079.T4.query_event.norm.x";
    optional.needs = {need_entry(E::query_event)};
    CHECK(not_applicable(expand(optional).at(0), facts)->verdict == Verdict::not_implemented);
}

TEST_CASE("needs: flags, operators, fork and work") {
    Facts facts;
    CHECK(unmet(concurrent_streams, facts));
    CHECK(unmet(op("Add"), facts));
    CHECK_FALSE(unmet(no_fork_claim, facts));
    CHECK(unmet(any_work, facts));
    facts.device_flags = HAL_DEVICE_CONCURRENT_STREAMS;
    facts.ops.insert("Add");
    facts.backend_flags = HAL_BACKEND_FORK_SAFE;
    facts.present[static_cast<size_t>(E::stream_add_callback)] = true;
    CHECK_FALSE(unmet(concurrent_streams, facts));
    CHECK_FALSE(unmet(op("Add"), facts));
    CHECK(unmet(no_fork_claim, facts));
    CHECK_FALSE(unmet(any_work, facts));
}

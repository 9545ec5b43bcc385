// Two reports beside each other, and the shards of one joined.
#include <catch2/catch.hpp>
#include <sstream>

#include "report/diff.hpp"
#include "report/merge.hpp"
#include "report_fixture.hpp"

using namespace hal::conformance;

namespace {

struct Three {
    Three() {
        cases.add("45079.T4.record_event.order.a", authority::S, {E::record_event})
            .add("45079.T4.record_event.order.b", authority::S, {E::record_event})
            .add("45079.T4.record_event.order.c", authority::S, {E::record_event});
        catalogue = cases.catalogue();
    }
    [[nodiscard]] Log log(Verdict a, Verdict b, Verdict c) const {
        LogMaker maker(catalogue);
        return maker.test(ids[0], a).test(ids[1], b).test(ids[2], c).end().log;
    }
    // Shard i of three has one test.
    [[nodiscard]] std::vector<Log> shards() const {
        std::vector<Log> result;
        for (uint32_t i = 0; i < 3; ++i) {
            LogMaker maker(catalogue);
            maker.log.begin.planned = {ids[i]};
            maker.log.begin.run.partial = true;
            maker.log.begin.run.shard = i;
            maker.log.begin.run.shards = 3;
            result.push_back(maker.test(ids[i], i == 1 ? Verdict::fail : Verdict::pass).end().log);
        }
        return result;
    }
    SmallCatalogue cases;
    Catalogue catalogue;
    std::array<std::string, 3> ids{"45079.T4.record_event.order.a", "45079.T4.record_event.order.b",
                                   "45079.T4.record_event.order.c"};
};

const std::vector<std::string> names3{"s0", "s1", "s2"};

void figure(Log& log, double p5, double median, double p95) {
    log.tests.front().attempts[0][0].metrics = {{"median", median, "ns"}, {"p5", p5, "ns"}, {"p95", p95, "ns"}};
}

}  // namespace

TEST_CASE("diff names regressions, fixes, vanished and new tests") {
    const Three three;
    const Model before = build(three.log(Verdict::pass, Verdict::fail, Verdict::hang), three.catalogue);
    const Model after = build(three.log(Verdict::crash, Verdict::pass, Verdict::fail), three.catalogue);
    const Diff changes = diff(before, after);
    REQUIRE(changes.regressions.size() == 1);
    CHECK(changes.regressions[0].id == three.ids[0]);
    REQUIRE(changes.fixes.size() == 1);
    CHECK(changes.fixes[0].id == three.ids[1]);
    REQUIRE(changes.others.size() == 1);
    CHECK(changes.others[0].before == Verdict::hang);
    CHECK(worse(changes));
    CHECK(!worse(diff(before, before)));

    Log less = three.log(Verdict::pass, Verdict::fail, Verdict::hang);
    std::erase(less.begin.planned, three.ids[2]);
    less.tests.pop_back();
    const Model fewer = build(less, three.catalogue);
    CHECK(diff(before, fewer).vanished == std::vector{three.ids[2]});
    CHECK(worse(diff(before, fewer)));
    CHECK(diff(fewer, before).added == std::vector{three.ids[2]});
    std::ostringstream out;
    print_diff(out, changes);
    CHECK(out.str().find("regression: 45079.T4.record_event.order.a: PASS -> CRASH: died of SIGSEGV") == 0);
    CHECK(out.str().find("1 regressions, 1 fixed, 1 changed otherwise, 0 vanished, 0 new, 0 metrics changed") !=
          std::string::npos);
}

TEST_CASE("a metric changed only if its interval moved away") {
    const Three three;
    Log before = three.log(Verdict::pass, Verdict::pass, Verdict::pass);
    Log after = before;
    figure(before, 90, 100, 110);
    figure(after, 105, 112, 130);
    CHECK(diff(build(before, three.catalogue), build(after, three.catalogue)).metrics.empty());
    figure(after, 111, 120, 130);
    const auto metrics = diff(build(before, three.catalogue), build(after, three.catalogue)).metrics;
    REQUIRE(metrics.size() == 1);
    CHECK(metrics[0].after == 120);
    CHECK(diff(build(after, three.catalogue), build(before, three.catalogue)).metrics.size() == 1);
}

TEST_CASE("merge joins all shards to a whole run") {
    const Three three;
    const Log log = merged(three.shards(), names3);
    CHECK(log.tests.size() == 3);
    CHECK(log.begin.run.shards == 1);
    const Model model = build(log, three.catalogue);
    CHECK(model.totals.all[Verdict::pass] == 2);
    CHECK(model.totals.all[Verdict::fail] == 1);
    CHECK(model.totals.left_out == 0);
}

TEST_CASE("merge refuses what does not belong together") {
    const Three three;
    auto shards = three.shards();
    const auto refuses = [&](const std::string& sentence) {
        CHECK_THROWS_WITH(merged(shards, names3), Catch::Contains(sentence));
    };
    SECTION("another plug-in") {
        shards[2].begin.target.library_sha256 = "other";
        refuses("s0 and s2: they differ in the library");
    }
    SECTION("another catalogue") {
        shards[1].begin.suite.catalogue = "other";
        refuses("differ in the catalogue");
    }
    SECTION("another seed") {
        shards[1].begin.run.seed = 1;
        refuses("differ in the seed");
    }
    SECTION("other options") {
        shards[1].begin.target.options["devices"] = "3";
        refuses("differ in the options");
    }
    SECTION("another device") {
        shards[1].facts->identity.devices[0].driver_version = "9";
        refuses("differ in the identity");
    }
    SECTION("a shard twice") {
        shards[2] = shards[1];
        refuses("shard 2 is there twice");
    }
    SECTION("a shard missing") {
        shards.pop_back();
        refuses("shard 3 of 3 is missing");
    }
    SECTION("shards that overlap") {
        shards[2].begin.planned.push_back(three.ids[0]);
        refuses("is in another shard, too");
    }
    SECTION("of another division") {
        shards[2].begin.run.shards = 4;
        refuses("it is shard 3 of 4");
    }
    SECTION("a shard that was killed") {
        shards[2].end.reset();
        refuses("its log has no end");
    }
    SECTION("no shards at all") {
        CHECK_THROWS_WITH(merged({three.log(Verdict::pass, Verdict::pass, Verdict::pass)}, {"whole"}),
                          Catch::Contains("cannot merge whole"));
        CHECK_THROWS_WITH(merged({}, {}), Catch::Contains("nothing to merge"));
    }
}

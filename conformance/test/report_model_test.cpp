// Verdicts of tests, rows and runs, from logs made by hand.
#include <catch2/catch.hpp>

#include "catalogue/clauses.hpp"
#include "catalogue/profiles.hpp"
#include "report_fixture.hpp"

using namespace hal::conformance;

namespace {

// Worst first, as the design fixes it; written out again so that the order of the enumerators is tested, too.
constexpr std::array worst_first{Verdict::harness_error,  Verdict::crash,          Verdict::hang,
                                 Verdict::fail,           Verdict::flaky,          Verdict::blocked,
                                 Verdict::not_run,        Verdict::quality,        Verdict::pass,
                                 Verdict::not_applicable, Verdict::not_implemented};

constexpr std::string_view row_id = "45079.T10.xccl_barrier.order.";

// A case of the row xccl_barrier, which is absent, that can come to this verdict.
void add_case(SmallCatalogue& cases, std::string_view id, Verdict verdict) {
    if (verdict == Verdict::not_implemented) {
        cases.add(id, authority::S, {E::xccl_barrier});
    } else if (verdict == Verdict::not_applicable) {
        cases.add(id, authority::S, {devices(9)});
    } else {
        cases.add(id, authority::S);
    }
}

const Row& row(const Model& model, E entry) {
    return model.rows[static_cast<size_t>(entry)];
}

void remove(Facts& facts, E entry) {
    facts.present.reset(static_cast<size_t>(entry));
    facts.claimed.erase(std::string(info(entry).name));
}

bool mentions(const std::vector<Bilingual>& reasons, std::string_view text) {
    return std::any_of(reasons.begin(), reasons.end(),
                       [&](const Bilingual& reason) { return reason.en.find(text) != std::string::npos; });
}

// One case of authority S, one of A, one of Q, which all pass unless the log says otherwise.
struct Trio {
    Trio() {
        cases.add("45079.T4.record_event.order.not_early", authority::S, {E::record_event})
            .add("45079.T2.memory_copy_h2d.err.bad_device", authority::A, {E::memory_copy_h2d})
            .add("45079.T3.create_stream.norm.quick", authority::Q, {E::create_stream});
        catalogue = cases.catalogue();
        maker.emplace(catalogue);
    }
    [[nodiscard]] Model model(const Evidence& evidence = {}) {
        maker->pass_all();
        return build(maker->log, catalogue, evidence);
    }
    SmallCatalogue cases;
    Catalogue catalogue;
    std::optional<LogMaker> maker;
    static constexpr const char* s = "45079.T4.record_event.order.not_early";
    static constexpr const char* a = "45079.T2.memory_copy_h2d.err.bad_device";
    static constexpr const char* q = "45079.T3.create_stream.norm.quick";
};

}  // namespace

TEST_CASE("a row is as good as the worst of its tests, for all pairs of verdicts") {
    const std::string first = std::string(row_id) + "a";
    const std::string second = std::string(row_id) + "b";
    for (size_t i = 0; i < worst_first.size(); ++i) {
        for (size_t j = 0; j < worst_first.size(); ++j) {
            SmallCatalogue cases;
            add_case(cases, first, worst_first[i]);
            add_case(cases, second, worst_first[j]);
            const Catalogue catalogue = cases.catalogue();
            LogMaker maker(catalogue);
            const Model model =
                build(maker.test(first, worst_first[i]).test(second, worst_first[j]).end().log, catalogue);
            INFO(name(worst_first[i]) << " and " << name(worst_first[j]));
            REQUIRE(model.tests.size() == 2);
            CHECK(model.tests[0].verdict() == worst_first[i]);
            CHECK(model.tests[1].verdict() == worst_first[j]);
            CHECK(row(model, E::xccl_barrier).verdict == worst_first[std::min(i, j)]);
        }
    }
}

TEST_CASE("a good run is conformant and exits 0") {
    Trio trio;
    trio.maker->end();
    const Model model = trio.model();
    CHECK(model.standard.outcome == Outcome::conformant);
    CHECK(model.abi.outcome == Outcome::conformant);
    CHECK(model.exit_causes == std::vector{0});
    CHECK(model.totals.all[Verdict::pass] == 3);
    CHECK(model.totals.mandatory[0][Verdict::pass] == 1);
    CHECK(model.totals.optional[2][Verdict::pass] == 1);
    CHECK(model.totals.optional[3][Verdict::pass] == 1);
}

TEST_CASE("what only our contract asks for never breaks the standard") {
    Trio trio;
    trio.maker->test(Trio::a, Verdict::fail, authority::A).end();
    const Model model = trio.model();
    CHECK(model.standard.outcome == Outcome::conformant);
    CHECK(model.abi.outcome == Outcome::not_conformant);
    CHECK(model.exit_code() == 1);
}

TEST_CASE("quality never fails") {
    Trio trio;
    trio.maker->test(Trio::q, Verdict::quality).end();
    const Model model = trio.model();
    CHECK(model.abi.outcome == Outcome::conformant);
    CHECK(model.exit_code() == 0);
    CHECK(row(model, E::create_stream).verdict == Verdict::quality);
}

TEST_CASE("a run that did not come to its end is incomplete, and a failure in it still one") {
    Trio trio;
    SECTION("killed: no end event") {
        CHECK(trio.model().standard.outcome == Outcome::incomplete);
        CHECK(trio.model().exit_code() == 4);
    }
    SECTION("interrupted before a case") {
        trio.maker->test(Trio::s, Verdict::pass).end();
        trio.maker->log.end->interrupted = true;
        const Model model = build(trio.maker->log, trio.catalogue);
        CHECK(model.exit_code() == 130);
        CHECK(model.exit_causes == std::vector{130, 4});
        CHECK(model.tests.front().judgement.reason == "the run was interrupted before this case");
        CHECK(model.standard.outcome == Outcome::incomplete);
    }
    SECTION("device lost") {
        trio.maker->test(Trio::s, Verdict::hang).end();
        trio.maker->log.end->device_lost = true;
        const Model model = build(trio.maker->log, trio.catalogue);
        CHECK(model.exit_causes == std::vector{5, 4, 1});
        CHECK(model.standard.outcome == Outcome::not_conformant);
    }
    SECTION("the suite failed") {
        trio.maker->end();
        trio.maker->log.end->failure = "the disk is full";
        CHECK(trio.model().exit_code() == 6);
    }
    SECTION("left out on purpose") {
        std::erase(trio.maker->log.begin.planned, Trio::q);
        trio.maker->log.begin.run.partial = true;
        trio.maker->end();
        const Model model = trio.model();
        CHECK(model.exit_code() == 0);
        CHECK(model.standard.outcome == Outcome::incomplete);
        CHECK(mentions(model.standard.reasons, "PARTIAL RUN: 1 case"));
        CHECK(row(model, E::create_stream).text() == "NOT_RUN (1 left out)");
        // Said once, not for each row.
        const auto& claims = model.claims_not_shown;
        CHECK(std::any_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.what == "1 row"; }));
        CHECK(std::none_of(claims.begin(), claims.end(),
                           [](const Claim& claim) { return claim.what == "create_stream"; }));
        CHECK(!mentions(model.profile().reasons, "create_stream"));
    }
    SECTION("no device") {
        trio.maker->log.facts->facts.device_count = 0;
        trio.maker->end();
        CHECK(trio.model().exit_code() == 4);
    }
}

TEST_CASE("a harness error of a case of our own leaves the standard's headline alone") {
    Trio trio;
    trio.maker->test(Trio::a, Verdict::harness_error).end();
    const Model model = trio.model();
    CHECK(model.exit_code() == 6);
    CHECK(model.standard.outcome == Outcome::conformant);
    CHECK(model.abi.outcome == Outcome::incomplete);
}

TEST_CASE("presence is judged by mandatory, claimed and required") {
    Trio trio;
    Facts& facts = trio.maker->log.facts->facts;
    SECTION("a mandatory row that is absent breaks the standard") {
        remove(facts, E::destroy_event);
        trio.maker->end();
        const Model model = trio.model();
        CHECK(row(model, E::destroy_event).verdict == Verdict::fail);
        CHECK(row(model, E::destroy_event).reason == "the standard makes it mandatory, and it is absent");
        CHECK(model.standard.outcome == Outcome::not_conformant);
        CHECK(mentions(model.standard.reasons, "destroy_event"));
        CHECK(model.exit_code() == 1);
    }
    SECTION("the mandatory rows of table 7 bind only who takes the graph route") {
        trio.maker->end();
        CHECK(row(trio.model(), E::graph_engine_execute).verdict == Verdict::not_implemented);
        facts.routes = {"graph"};
        CHECK(row(trio.model(), E::graph_engine_execute).verdict == Verdict::fail);
    }
    SECTION("claimed and absent breaks our contract only") {
        facts.claimed.insert("xccl_send");
        facts.claimed.erase("query_event");
        trio.maker->end();
        const Model model = trio.model();
        CHECK(row(model, E::xccl_send).verdict == Verdict::fail);
        CHECK(row(model, E::query_event).reason == "present, and the manifest does not claim it");
        CHECK(model.standard.outcome == Outcome::conformant);
        CHECK(model.abi.outcome == Outcome::not_conformant);
        CHECK(model.exit_code() == 1);
        const auto& claims = model.claims_not_shown;
        CHECK(std::any_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.what == "xccl_send"; }));
    }
    SECTION("a row that the profile requires fails if it is absent, and the standard does not mind") {
        remove(facts, E::destroy_stream);
        trio.maker->log.begin.run.profile = "gb-infer";
        trio.maker->end();
        const Model model = trio.model();
        CHECK(row(model, E::destroy_stream).verdict == Verdict::fail);
        CHECK(model.standard.outcome == Outcome::conformant);
        CHECK(model.profile().outcome == Outcome::not_conformant);
        CHECK(model.exit_code() == 1);
    }
}

TEST_CASE("a profile wants a complete compute route") {
    Trio trio;
    trio.maker->end();
    const auto gb_min = [&] { return trio.model().profiles.front(); };
    CHECK(gb_min().key == "gb-min");
    CHECK(!mentions(gb_min().reasons, "compute route"));
    trio.maker->log.facts->facts.ops.clear();
    CHECK(mentions(gb_min().reasons, "no compute route"));
    trio.maker->log.facts->facts.routes = {"op"};
    CHECK(mentions(gb_min().reasons, "route op lacks a registered kernel"));
}

TEST_CASE("depth: how many of a row's tests applied") {
    SmallCatalogue cases;
    cases.add("45079.T2.memory_copy_p2p.norm.a", authority::S, {E::memory_copy_p2p})
        .add("45079.T2.memory_copy_p2p.norm.b", authority::S, {E::memory_copy_p2p, devices(9)});
    const Catalogue catalogue = cases.catalogue();
    LogMaker maker(catalogue);
    const Model model = build(maker.pass_all().end().log, catalogue);
    CHECK(row(model, E::memory_copy_p2p).text() == "PASS (1 of 2 applicable)");
    CHECK(row(model, E::memory_copy_p2p).authorities == "S");
}

TEST_CASE("the verdict of a test comes from facts, not from words in the log") {
    Trio trio;
    TestEvent lie;
    lie.id = Trio::s;
    lie.not_run = Judgement{Verdict::not_applicable, false, "needs 9 devices"};
    trio.maker->log.tests.push_back(lie);
    trio.maker->end();
    const Model model = trio.model();
    CHECK(model.totals.all[Verdict::not_run] == 1);
    CHECK(model.exit_code() == 4);
}

TEST_CASE("a case that the catalogue does not have is a harness error") {
    Trio trio;
    TestEvent stranger;
    stranger.id = "45079.T4.record_event.order.no_such_case";
    stranger.attempts = {{good_attempt()}};
    trio.maker->log.tests.push_back(stranger);
    trio.maker->end();
    CHECK(trio.model().exit_code() == 6);
}

TEST_CASE("exit causes rank 130, 2, 3, 6, 5, 4, 1, 7, 0") {
    CHECK(ranked({0, 7, 1, 4, 5, 6, 3, 2, 130}) == std::vector{130, 2, 3, 6, 5, 4, 1, 7});
    CHECK(ranked({}) == std::vector{0});
    CHECK(ranked({1, 1, 4}) == std::vector{4, 1});
}

TEST_CASE("a log that names an unknown profile is refused") {
    Trio trio;
    trio.maker->log.begin.run.profile = "gb-maximal";
    CHECK_THROWS_WITH(trio.model(), Catch::Contains("gb-maximal"));
}

TEST_CASE("the command that runs a test again can be pasted") {
    Trio trio;
    trio.maker->log.begin.target.options["path"] = "it's here";
    trio.maker->test(Trio::s, Verdict::fail).end();
    const Model model = trio.model();
    CHECK(model.tests.back().reproduce ==
          "hal-conformance run --manifest /opt/acme/50-acme.npu.json --option devices=2 --option 'path=it'\\''s here' "
          "--exact 45079.T4.record_event.order.not_early --seed 0x5eed");
}

TEST_CASE("names, profiles and clauses are complete") {
    for (const hal::EntryInfo& entry : hal::entries) {
        INFO(entry.name);
        CHECK(!chinese_name(entry.name).empty());
    }
    size_t standard = 0;
    size_t mandatory_rows = 0;
    for (const hal::EntryInfo& entry : hal::entries) {
        standard += table_of(entry).standard() ? 1 : 0;
        mandatory_rows += entry.need == hal::Need::required ? 1 : 0;
    }
    CHECK(standard == 74);
    CHECK(mandatory_rows == 10);
    CHECK(find_profile("gb-min")->rows.size() == 8);
    CHECK(find_profile("gb-infer")->rows.size() == 21);
    CHECK(find_profile("gb-train")->rows.size() == 37);
    CHECK(find_profile("gb-graph")->rows.size() == 10);
    CHECK(find_profile("gb-xccl")->rows.size() == 18);
    CHECK(find_profile("gb") == nullptr);
    CHECK(find_clause("45079/T10.18")->name_zh == "切分重聚合通信");
    CHECK(!find_clause("45079/8.2")->available);
}

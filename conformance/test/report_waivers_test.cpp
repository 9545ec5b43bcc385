// Waivers: what one may say, what it meets, and that nothing is waived by accident.
#include <catch2/catch.hpp>

#include "report_fixture.hpp"

using namespace hal::conformance;

namespace {

constexpr const char* id = "45079.T3.stream_add_callback.order.after_prior_work[src=p2p]";

const std::map<std::string, std::string>& good_fields() {
    static const std::map<std::string, std::string> fields{
        {"id", "\"acme-0017\""},
        {"tests", "\"45079.T3.stream_add_callback.order.after_prior_work[src=p2p]\""},
        {"verdict", "\"FAIL\""},
        {"message", "\"callback before copy\""},
        {"vendor", "\"acme\""},
        {"device", "\"npu-910*\""},
        {"driver", "\">=5.1,<5.4\""},
        {"reason", "\"firmware reorders peer copies\""},
        {"tracker", "\"https://bugs.example/17\""},
        {"owner", "\"A. Person <a@example>\""},
        {"created", "2026-02-01"},
        {"expires", "2026-07-01"}};
    return fields;
}

// With one field changed, or left out if the value is empty.
std::string text_with(const std::string& field = "", const std::string& value = "") {
    auto fields = good_fields();
    if (!field.empty()) {
        fields[field] = value;
    }
    std::string text = "[[waiver]]\n";
    for (const auto& [key, one] : fields) {
        text += one.empty() ? "" : key + " = " + one + "\n";
    }
    return text;
}

struct Run {
    Run() {
        cases
            .add("45079.T3.stream_add_callback.order.after_prior_work", authority::S, {E::stream_add_callback},
                 {over("src", {"d2d", "p2p"})})
            .add("45079.T4.record_event.order.not_early", authority::S, {E::record_event});
        catalogue = cases.catalogue();
        maker.emplace(catalogue);
    }
    Run& failing() {
        TestEvent event;
        event.id = id;
        event.attempts = {{bad_attempt(authority::S, "callback before copy")}};
        maker->log.tests.push_back(event);
        return *this;
    }
    [[nodiscard]] Model model(const std::string& text) {
        maker->pass_all().end();
        Evidence evidence;
        evidence.waivers = parse_waivers(text, "w.toml");
        return build(maker->log, catalogue, evidence);
    }
    // The one fault of the waivers; exit 2.
    [[nodiscard]] std::string fault(const std::string& text) {
        const Model result = model(text);
        REQUIRE(result.waiver_faults.size() == 1);
        CHECK(result.exit_code() == 2);
        CHECK(std::none_of(result.tests.begin(), result.tests.end(),
                           [](const TestResult& test) { return test.is_waived(); }));
        return result.waiver_faults.front();
    }

    SmallCatalogue cases;
    Catalogue catalogue;
    std::optional<LogMaker> maker;
};

}  // namespace

TEST_CASE("a waiver covers its test, its row and its run") {
    Run run;
    const Model model = run.failing().model(text_with());
    CHECK(model.waiver_faults.empty());
    CHECK(model.standard.outcome == Outcome::conformant_with_waivers);
    CHECK(model.exit_code() == 7);
    const Row& row = model.rows[static_cast<size_t>(E::stream_add_callback)];
    CHECK(row.verdict == Verdict::fail);
    CHECK(row.waived);
    run.maker->log.begin.run.command.emplace_back("--waivers-ok");
    CHECK(run.model(text_with()).exit_code() == 0);
}

TEST_CASE("a failure beside a waived one still counts") {
    Run run;
    run.maker->test("45079.T4.record_event.order.not_early", Verdict::fail);
    const Model model = run.failing().model(text_with());
    CHECK(model.standard.outcome == Outcome::not_conformant);
    CHECK(model.exit_causes == std::vector{1, 7});
}

TEST_CASE("each field is needed, and no other is taken") {
    for (const auto& [field, value] : good_fields()) {
        CHECK_THROWS_WITH(parse_waivers(text_with(field, ""), "w.toml"), Catch::Contains("lacks " + field));
    }
    CHECK_THROWS_WITH(parse_waivers(text_with("severity", "\"low\""), "w.toml"),
                      Catch::Contains("no field 'severity'"));
    CHECK_THROWS_WITH(parse_waivers("skip = [\"45079.*\"]\n", "w.toml"),
                      Catch::Contains("[[waiver]] and nothing else"));
    CHECK_THROWS_WITH(parse_waivers("[[waiver]\n", "w.toml"), Catch::StartsWith("w.toml:1: no TOML"));
    CHECK_THROWS_WITH(parse_waivers(text_with() + text_with(), "w.toml"), Catch::Contains("a second waiver"));
    CHECK_THROWS_WITH(read_waivers("/no/such/waivers.toml"), Catch::Contains("cannot read"));
}

TEST_CASE("what a waiver may not say") {
    const auto throws = [](const std::string& field, const std::string& value, const std::string& sentence) {
        CHECK_THROWS_WITH(parse_waivers(text_with(field, value), "w.toml"), Catch::Contains(sentence));
    };
    throws("tests", "\"45079.*\"", "too broad");
    throws("tests", "\"45079.T3.stream_add_callback\"", "too broad");
    throws("tests", "\"45079.T3.stream_add_callback.order.*\"", "too broad");
    throws("tests", "\"45079.T3.*.order.after_prior_work[src=p2p]\"", "too broad");
    throws("verdict", "\"HARNESS_ERROR\"", "the suite's fault");
    throws("verdict", "\"PASS\"", "nothing that needs a waiver");
    throws("verdict", "\"BROKEN\"", "BROKEN");
    throws("tracker", "\"ask Bob\"", "no URL");
    throws("expires", "2026-08-01", "more than 180 days: it was made on 2026-02-01, so it can expire on 2026-07-31");
    throws("expires", "2026-01-01", "before it was made");
    throws("expires", "\"2026-07-01\"", "without quotes");
    CHECK_NOTHROW(parse_waivers(text_with("expires", "2026-07-31"), "w.toml"));
}

TEST_CASE("a waiver that is out of date or of an unknown test") {
    Run run;
    run.failing();
    CHECK(run.fault(text_with("expires", "2026-02-28")).find("expired on 2026-02-28") != std::string::npos);
    CHECK(run.fault(text_with("created", "2026-03-02")).find("after the day 2026-03-01") != std::string::npos);
    const std::string unknown =
        run.fault(text_with("tests", "\"45079.T3.stream_add_callback.order.after_prior_wrok[src=p2p]\""));
    CHECK(unknown.find("names no case") != std::string::npos);
    CHECK(unknown.find("nearest is " + std::string(id)) != std::string::npos);
}

TEST_CASE("a waiver that does nothing is a fault") {
    Run run;
    SECTION("stale") {
        CHECK(run.fault(text_with()).find("is stale: " + std::string(id) + " is PASS now") != std::string::npos);
    }
    SECTION("its pattern takes in a test that passes") {
        CHECK(run.failing()
                  .fault(text_with("tests", "\"45079.T3.stream_add_callback.order.after_prior_work[src=*]\""))
                  .find("is stale") != std::string::npos);
    }
    SECTION("another outcome") {
        run.maker->test(id, Verdict::hang);
        CHECK(run.fault(text_with()).find("is for FAIL, and " + std::string(id) + " is HANG") != std::string::npos);
    }
    SECTION("a harness error") {
        run.maker->test(id, Verdict::harness_error);
        CHECK(run.fault(text_with()).find("is for FAIL") != std::string::npos);
    }
    SECTION("another message") {
        CHECK(
            run.failing().fault(text_with("message", "\"copy is slow\"")).find("expects the message 'copy is slow'") !=
            std::string::npos);
    }
    SECTION("another vendor") {
        CHECK(run.failing().fault(text_with("vendor", "\"other\"")).find("matches nothing: it is for vendor") !=
              std::string::npos);
    }
    SECTION("another device or driver") {
        CHECK(run.failing().fault(text_with("device", "\"npu-310*\"")).find("matches nothing: no device") !=
              std::string::npos);
    }
    SECTION("an older driver") {
        CHECK(run.failing().fault(text_with("driver", "\"<5.2\"")).find("matches nothing: no device") !=
              std::string::npos);
    }
    SECTION("the test does not apply") {
        run.maker->log.facts->facts.present.reset(static_cast<size_t>(E::stream_add_callback));
        CHECK(run.fault(text_with()).find("matches nothing: no case of") != std::string::npos);
    }
}

TEST_CASE("a crash of a mandatory row cannot be waived") {
    Run run;
    run.maker->test("45079.T4.record_event.order.not_early", Verdict::crash);
    std::string text = text_with("tests", "\"45079.T4.record_event.order.not_early\"");
    text.replace(text.find("\"FAIL\""), 6, "\"CRASH\"");
    text.replace(text.find("callback before copy"), 20, "died of SIGSEGV");
    CHECK(run.fault(text).find("cannot waive a crash of the mandatory row record_event") != std::string::npos);
}

TEST_CASE("version ranges") {
    CHECK(in_range("5.2.0", ">=5.1,<5.4"));
    CHECK(in_range("5.10", ">5.9"));
    CHECK(!in_range("5.4", ">=5.1,<5.4"));
    CHECK(in_range("5.4", "<=5.4.0"));
    CHECK(in_range("5.4", "==5.4"));
    CHECK(in_range("5.4", "5.4"));
    CHECK(in_range("", "*"));
    CHECK(!in_range("", ">=1"));
}

TEST_CASE("a skeleton has everything but what a person must say") {
    Run run;
    const Model model = run.failing().model(text_with());
    const auto test =
        std::find_if(model.tests.begin(), model.tests.end(), [](const TestResult& one) { return one.id == id; });
    const std::string skeleton = waiver_skeleton(*test, model.facts->identity, "2026-03-01");
    CHECK(skeleton.find("reason = \"\"") != std::string::npos);
    CHECK(skeleton.find("tracker = \"\"") != std::string::npos);
    CHECK_THROWS_WITH(parse_waivers(skeleton, "s.toml"),
                      Catch::Contains("lacks reason") && Catch::Contains("lacks tracker") &&
                          Catch::Contains("lacks id") && Catch::Contains("lacks owner"));
    std::string filled = skeleton;
    for (const auto& [empty, full] :
         {std::pair{"id = \"\"", "id = \"w\""}, std::pair{"reason = \"\"", "reason = \"r\""},
          std::pair{"tracker = \"\"", "tracker = \"https://b.example\""}, std::pair{"owner = \"\"", "owner = \"o\""}}) {
        filled.replace(filled.find(empty), std::string(empty).size(), full);
    }
    CHECK(run.model(filled).exit_code() == 7);
}

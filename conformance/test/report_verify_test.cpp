// A report that nobody touched is accepted; each way to edit one has a sentence and an exit code of its own.
#include <catch2/catch.hpp>

#include "report/folder.hpp"
#include "report/verify.hpp"
#include "report_fixture.hpp"

using namespace hal::conformance;

namespace {

constexpr const char* today = "2026-03-02";

struct Case1 {
    Case1() {
        cases.add("45079.T4.record_event.order.not_early", authority::S, {E::record_event})
            .add("45079.T2.memory_copy_h2d.norm.full", authority::S, {E::memory_copy_h2d})
            .add("45079.T2.memory_copy_p2p.norm.full", authority::S, {E::memory_copy_p2p, devices(9)})
            .add("45079.T10.xccl_barrier.order.all", authority::S, {E::xccl_barrier});
        catalogue = cases.catalogue();
        maker.emplace(catalogue);
        maker->test(h2d, Verdict::fail).pass_all().end();
        evidence.power = Power{catalogue.hash, {{"null.all", h2d, "FAIL", true}}, {}, {}};
    }
    [[nodiscard]] ReportFolder folder() const { return {maker->log, catalogue, evidence}; }
    [[nodiscard]] std::vector<Problem> check(const ReportFolder& folder) const {
        return verify(folder.path(), catalogue, today);
    }

    SmallCatalogue cases;
    Catalogue catalogue;
    std::optional<LogMaker> maker;
    Evidence evidence;
    static constexpr const char* h2d = "45079.T2.memory_copy_h2d.norm.full";
    static constexpr const char* event = "45079.T4.record_event.order.not_early";
    static constexpr const char* p2p = "45079.T2.memory_copy_p2p.norm.full";
};

// The first problem has this code, and one of them says this.
void rejects(const std::vector<Problem>& problems, Fault fault, const std::string& sentence) {
    std::string all;
    bool said = false;
    for (const Problem& problem : problems) {
        all += problem.text + "\n";
        said = said || (problem.fault == fault && problem.text.find(sentence) != std::string::npos);
    }
    INFO(all);
    CHECK(exit_code(problems) == static_cast<int>(fault));
    CHECK(said);
}

std::string line_of(const std::string& log, const std::string& part) {
    const size_t at = log.find(part);
    const size_t begin = log.rfind('\n', at) + 1;
    return log.substr(begin, log.find('\n', at) + 1 - begin);
}

}  // namespace

TEST_CASE("an untouched report is accepted") {
    const Case1 one;
    const auto folder = one.folder();
    for (const Problem& problem : one.check(folder)) {
        FAIL_CHECK(problem.text);
    }
    const auto rich = rich_report();
    const ReportFolder big(rich->log, rich->catalogue, rich->evidence);
    // Its selftest, waivers, hostile texts and figures are as they were; one case has no outcome, on purpose.
    const auto problems = verify(big.path(), rich->catalogue, today);
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().fault == Fault::test_missing);
}

TEST_CASE("a run that was interrupted or told to stop is a valid report of what ran") {
    Case1 one;
    SECTION("interrupted") {
        one.maker->log.end->interrupted = true;
    }
    SECTION("told to stop at the first bad case") {
        one.maker->log.begin.run.command.emplace_back("--fail-fast");
    }
    std::erase_if(one.maker->log.tests, [](const TestEvent& event) { return event.id == Case1::event; });
    CHECK(one.check(one.folder()).empty());
}

TEST_CASE("edits of the log") {
    Case1 one;
    const auto folder = one.folder();
    const std::string log = folder.read(names::events);
    const auto with = [&](const std::string& text) {
        folder.write(names::events, text);
        folder.renew_sums();
        return one.check(folder);
    };
    SECTION("cut in the middle of a line") {
        rejects(with(log.substr(0, log.size() - 20)), Fault::log_damaged, "events.jsonl:");
    }
    SECTION("cut between lines") {
        const size_t last = log.rfind('\n', log.size() - 2) + 1;
        rejects(with(log.substr(0, last)), Fault::log_unfinished, "no end event");
    }
    SECTION("empty") {
        rejects(with(""), Fault::log_damaged, "is empty");
    }
    SECTION("gone") {
        std::filesystem::remove(folder.path() / names::events);
        rejects(one.check(folder), Fault::log_damaged, "cannot read");
    }
    SECTION("another catalogue") {
        folder.edit(names::events, one.catalogue.hash, "fedcba9876543210");
        folder.renew_sums();
        rejects(one.check(folder), Fault::other_catalogue, "fedcba987654");
    }
    SECTION("a test is missing") {
        std::string text = log;
        const std::string line = line_of(log, "\"id\":\"" + std::string(Case1::h2d));
        text.erase(text.find(line), line.size());
        rejects(with(text), Fault::test_missing, Case1::h2d);
    }
    SECTION("a test is there twice") {
        std::string text = log;
        const std::string line = line_of(log, "\"id\":\"" + std::string(Case1::event));
        rejects(with(text.insert(text.find(line), line)), Fault::test_twice, Case1::event);
    }
    SECTION("a test is missing, and the plan does not name it either") {
        std::string text = log;
        const std::string line = line_of(log, "\"id\":\"" + std::string(Case1::h2d));
        text.erase(text.find(line), line.size());
        const std::string planned = "\"" + std::string(Case1::h2d) + "\",";
        text.erase(text.find(planned), planned.size());
        rejects(with(text), Fault::plan_wrong, "its plan lacks " + std::string(Case1::h2d));
    }
    SECTION("a test that nobody planned") {
        folder.edit(names::events, "\"id\":\"" + std::string(Case1::event),
                    "\"id\":\"45079.T4.record_event.order.later");
        folder.renew_sums();
        const auto problems = one.check(folder);
        rejects(problems, Fault::test_missing, Case1::event);
        CHECK(std::any_of(problems.begin(), problems.end(),
                          [](const Problem& p) { return p.fault == Fault::test_unknown; }));
    }
    SECTION("a failure is called not applicable") {
        std::string text = log;
        const std::string line = line_of(log, "\"id\":\"" + std::string(Case1::h2d));
        auto event = nlohmann::json::parse(line);
        event["attempts"] = nlohmann::json::array();
        event["not_run"] = {{"verdict", "NOT_APPLICABLE"}, {"breaks_standard", false}, {"reason", "needs 9 devices"}};
        rejects(with(text.replace(text.find(line), line.size(), event.dump() + "\n")), Fault::applicability,
                "applies by the facts");
    }
    SECTION("a case that does not apply was run") {
        std::string text = log;
        const std::string line = line_of(log, "\"id\":\"" + std::string(Case1::p2p));
        auto event = nlohmann::json::parse(line);
        event["attempts"] = nlohmann::json::parse(line_of(log, "\"id\":\"" + std::string(Case1::event))).at("attempts");
        rejects(with(text.replace(text.find(line), line.size(), event.dump() + "\n")), Fault::applicability,
                "does not apply");
    }
    SECTION("another outcome, with the old files") {
        folder.edit(names::events, "\"checks_bad\":[1,0,0,0]", "\"checks_bad\":[0,0,0,0]");
        folder.renew_sums();
        rejects(one.check(folder), Fault::verdict_changed, "report.json says FAIL of " + std::string(Case1::h2d));
    }
}

TEST_CASE("edits of the files that are computed") {
    const Case1 one;
    const auto folder = one.folder();
    const auto edited = [&](const char* file, const std::string& from, const std::string& to) {
        folder.edit(file, from, to);
        folder.renew_sums();
        return one.check(folder);
    };
    SECTION("a changed file, with the old sums") {
        folder.edit(names::markdown, "FAIL", "PASS");
        rejects(one.check(folder), Fault::file_changed, "report.md is not the file");
    }
    SECTION("a file that is gone") {
        std::filesystem::remove(folder.path() / names::junit);
        rejects(one.check(folder), Fault::file_missing, "junit.xml is in SHA256SUMS");
    }
    SECTION("a file that was put there") {
        folder.write("certificate.txt", "CONFORMANT");
        rejects(one.check(folder), Fault::file_changed, "certificate.txt is in the folder");
    }
    SECTION("no sums") {
        std::filesystem::remove(folder.path() / names::sums);
        rejects(one.check(folder), Fault::file_missing, "SHA256SUMS is missing");
    }
    SECTION("sums that lead outside") {
        folder.write(names::sums, folder.read(names::sums) + std::string(64, '0') + "  ../../etc/passwd\n");
        rejects(one.check(folder), Fault::file_changed, "outside the folder");
    }
    SECTION("no report.json") {
        std::filesystem::remove(folder.path() / names::json);
        folder.renew_sums();
        rejects(one.check(folder), Fault::file_missing, "report.json is missing");
    }
    SECTION("a verdict of report.json") {
        std::string text = folder.read(names::json);
        auto report = nlohmann::json::parse(text);
        for (auto& test : report["tests"]) {
            test["verdict"] = test["verdict"] == "FAIL" ? "PASS" : test["verdict"];
        }
        folder.write(names::json, report.dump(1));
        folder.renew_sums();
        rejects(one.check(folder), Fault::verdict_changed,
                "says PASS of " + std::string(Case1::h2d) + ", and the log gives FAIL");
    }
    SECTION("the summary of report.json") {
        rejects(edited(names::json, "NOT_CONFORMANT", "CONFORMANT"), Fault::summary_changed, "'headlines'");
    }
    SECTION("the totals of report.json") {
        rejects(edited(names::json, "\"FAIL\": 1", "\"FAIL\": 0"), Fault::summary_changed, "");
    }
    SECTION("report.json is no JSON") {
        rejects(edited(names::json, "{", ""), Fault::summary_changed, "damaged");
    }
    SECTION("JUnit counts differ") {
        rejects(edited(names::junit, "name=\"verdict.FAIL\" value=\"1\"", "name=\"verdict.FAIL\" value=\"0\""),
                Fault::counts_differ, "junit.xml");
    }
    SECTION("JUnit lacks a case") {
        const std::string text = folder.read(names::junit);
        const size_t begin = text.find("    <testcase");
        const size_t end = text.find("</testcase>\n", begin) + 12;
        folder.write(names::junit, text.substr(0, begin) + text.substr(end));
        folder.renew_sums();
        rejects(one.check(folder), Fault::counts_differ, "junit.xml");
    }
    SECTION("JUnit tells a failure as a pass") {
        const std::string text = folder.read(names::junit);
        const size_t begin = text.find("      <failure");
        const size_t end = text.find("</failure>\n", begin) + 11;
        folder.write(names::junit, text.substr(0, begin) + text.substr(end));
        folder.renew_sums();
        rejects(one.check(folder), Fault::summary_changed, "junit.xml is not what the log gives");
    }
    SECTION("HTML counts differ") {
        rejects(edited(names::html, "&quot;FAIL&quot;:1", "&quot;FAIL&quot;:0"), Fault::counts_differ, "report.html");
    }
    SECTION("HTML shows another headline") {
        rejects(edited(names::html, "<b>1</b> FAIL", "<b>0</b> FAIL"), Fault::summary_changed, "report.html");
    }
    SECTION("Markdown counts differ") {
        rejects(edited(names::markdown, "fail 1", "fail 0"), Fault::counts_differ, "report.md");
    }
    SECTION("the log of a bad test") {
        rejects(edited("logs/45079.T2.memory_copy_h2d.norm.full.txt", "0x17", "0x00"), Fault::summary_changed,
                "not what the log gives");
    }
}

TEST_CASE("what lies beside the log") {
    Case1 one;
    SECTION("a selftest of another catalogue") {
        one.evidence.power->catalogue = "other";
        rejects(one.check(one.folder()), Fault::selftest, "made with the catalogue other");
    }
    SECTION("a damaged selftest") {
        const auto folder = one.folder();
        folder.write(names::selftest, "{}");
        folder.renew_sums();
        // What was computed with it is no longer what can be computed.
        CHECK(exit_code(one.check(folder)) != 0);
    }
    SECTION("waivers") {
        one.evidence.waivers = parse_waivers(R"([[waiver]]
id = "w1"
tests = "45079.T2.memory_copy_h2d.norm.full"
verdict = "FAIL"
message = "last byte"
vendor = "acme"
device = "*"
driver = "*"
reason = "known"
tracker = "https://bugs.example/1"
owner = "a"
created = 2026-02-01
expires = 2026-03-05
)",
                                             "w.toml");
        const auto folder = one.folder();
        CHECK(one.check(folder).empty());
        rejects(verify(folder.path(), one.catalogue, "2026-03-06"), Fault::waiver,
                "today: waiver w1 expired on 2026-03-05");
        folder.edit(names::waivers, "2026-03-05", "2026-02-27");
        folder.renew_sums();
        const auto problems = one.check(folder);
        CHECK(std::any_of(problems.begin(), problems.end(), [](const Problem& problem) {
            return problem.fault == Fault::waiver && problem.text.find("at the day of the run: waiver w1 expired") == 0;
        }));
    }
}

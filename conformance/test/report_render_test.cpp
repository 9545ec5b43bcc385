// Each format holds what the log gives, whatever a plug-in writes.
#include <boost/property_tree/xml_parser.hpp>
#include <catch2/catch.hpp>
#include <sstream>

#include "report/escape.hpp"
#include "report/folder.hpp"
#include "report/json.hpp"
#include "report/render.hpp"
#include "report/text.hpp"
#include "report_fixture.hpp"

using namespace hal::conformance;

namespace {

bool valid_utf8(const std::string& text) {
    try {
        (void)nlohmann::json(text).dump();  // strict: throws for what is none
        return true;
    } catch (const nlohmann::json::exception&) {
        return false;
    }
}

bool has_control(const std::string& text) {
    return std::any_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
    });
}

size_t count(const std::string& text, std::string_view part) {
    size_t times = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
        ++times;
    }
    return times;
}

}  // namespace

TEST_CASE("invalid UTF-8 and control characters survive no format, and nothing is lost with them") {
    const auto rich = rich_report();
    // As the run has it in memory, before the log made it valid.
    const Model model = build(rich->log, rich->catalogue, rich->evidence);
    std::ostringstream summary;
    print_summary(summary, model);
    for (const std::string& text : {json_text(model), junit_text(model), html_text(model), markdown_text(model),
                                    tap_text(model), summary.str()}) {
        CHECK(valid_utf8(text));
        CHECK(!has_control(text));
        CHECK(text.find("45079.T2.memory_copy_d2h.norm.full") != std::string::npos);
    }
}

TEST_CASE("text of a plug-in is no markup") {
    const auto rich = rich_report();
    const Model model = build(rich->log, rich->catalogue, rich->evidence);
    const std::string page = html_text(model);
    CHECK(page.find("<script>alert") == std::string::npos);
    CHECK(page.find("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; ]]&gt; &amp;") != std::string::npos);
    CHECK(page.find("{{mustache}}") != std::string::npos);
    CHECK(page.find("Acme &lt;b&gt;NPU") != std::string::npos);
    CHECK(page.find("\\x1b[31mred") != std::string::npos);
    const std::string markdown = markdown_text(model);
    CHECK(markdown.find("<script>alert") == std::string::npos);
    CHECK(markdown.find("\\<script\\>alert") != std::string::npos);
}

TEST_CASE("the page is whole: 74 cells, both languages, nothing from outside") {
    const auto rich = rich_report();
    const std::string page = html_text(build(rich->log, rich->catalogue, rich->evidence));
    CHECK(count(page, "data-row=\"T") == 74);
    CHECK(page.find("GB/T 45079-2024 的 74 个接口") != std::string::npos);
    CHECK(page.find("The 74 interfaces of GB/T 45079-2024") != std::string::npos);
    CHECK(count(page, "<polyline") == 1);
    for (const char* outside : {" src=\"", "<link", "@import", "url("}) {
        CHECK(page.find(outside) == std::string::npos);
    }
    // Every id that a cell leads to is there.
    CHECK(page.find("href=\"#T2.7\"") != std::string::npos);
    CHECK(page.find("id=\"T2.7\"") != std::string::npos);
}

TEST_CASE("JUnit has a failure, error or skip where the log says so") {
    const auto rich = rich_report();
    Model model = build(rich->log, rich->catalogue, rich->evidence);
    const auto parsed = [&] {
        std::istringstream stream(junit_text(model));
        boost::property_tree::ptree tree;
        boost::property_tree::read_xml(stream, tree);
        return tree;
    };
    const auto number = [](const boost::property_tree::ptree& tree, const char* what) {
        return tree.get<uint64_t>("testsuites.<xmlattr>." + std::string(what));
    };
    const Counts& all = model.totals.all;
    auto tree = parsed();
    CHECK(number(tree, "tests") == all.total());
    CHECK(number(tree, "failures") == all.bad());
    CHECK(number(tree, "errors") == all[Verdict::harness_error]);
    CHECK(number(tree, "skipped") ==
          all[Verdict::not_run] + all[Verdict::not_applicable] + all[Verdict::not_implemented]);
    model.waivers_ok = true;
    CHECK(number(parsed(), "failures") == all.bad() - 2);
}

TEST_CASE("TAP numbers every test once") {
    const auto rich = rich_report();
    const Model model = build(rich->log, rich->catalogue, rich->evidence);
    const std::string text = tap_text(model);
    CHECK(text.starts_with("TAP version 13\n1.." + std::to_string(model.tests.size()) + "\n"));
    CHECK(count(text, "\nnot ok ") == model.totals.all.bad() + model.totals.all[Verdict::harness_error]);
    CHECK(count(text, "\nok ") + count(text, "\nnot ok ") == model.tests.size());
}

TEST_CASE("the summary has both headlines, all eleven classes, and a command for each bad test") {
    const auto rich = rich_report();
    const Model model = build(rich->log, rich->catalogue, rich->evidence);
    std::ostringstream out;
    print_summary(out, model);
    const std::string text = out.str();
    CHECK(text.find("GB/T 45079        NOT_CONFORMANT: ") != std::string::npos);
    CHECK(text.find("HAL ABI           NOT_CONFORMANT: ") != std::string::npos);
    CHECK(text.ends_with(counts_line(model.totals.all) + "\n"));
    CHECK(count(text, "again: hal-conformance run") >= model.totals.all.bad());
    for (const char* word : {"pass ", "fail ", "crash ", "hang ", "flaky ", "blocked ", "quality ", "n/i ", "n/a ",
                             "not-run ", "harness-error "}) {
        CHECK(counts_line(model.totals.all).find(word) != std::string::npos);
    }
    CHECK(text.find("waived by acme-0017") != std::string::npos);
    std::ostringstream chinese;
    print_summary(chinese, model, {true, false, Language::zh});
    CHECK(chinese.str().find("主机到设备同步内存拷贝") != std::string::npos);
    CHECK(chinese.str().find("\x1b[31;1mCRASH") != std::string::npos);
}

TEST_CASE("a run of perf prints figures and no headline") {
    auto rich = rich_report();
    const auto judges = [](const auto& id) { return !is_figure(id); };
    std::erase_if(rich->log.begin.planned, judges);
    std::erase_if(rich->log.tests, [&](const TestEvent& event) { return judges(event.id); });
    rich->log.begin.run.partial = true;
    const Model model = build(rich->log, rich->catalogue);
    std::ostringstream out;
    print_summary(out, model);
    CHECK(out.str().find("perf.copy.h2d[size=4096]") != std::string::npos);
    CHECK(out.str().find("median 1400 ns") != std::string::npos);
    CHECK(out.str().find("CONFORMANT") == std::string::npos);
    CHECK(model.tests.front().reproduce.starts_with("hal-conformance perf --manifest"));
    CHECK(model.exit_code() == 0);
}

TEST_CASE("a folder has every format that was asked for, the logs of bad tests, and the sums of all files") {
    const auto rich = rich_report();
    const ReportFolder folder(rich->log, rich->catalogue, rich->evidence);
    const std::string sums = folder.read(names::sums);
    for (const char* file : {names::events, names::waivers, names::selftest, names::json, names::junit, names::html,
                             names::markdown, names::tap, "logs/45079.T2.memory_copy_h2d.norm.full.txt"}) {
        CHECK(count(sums, "  " + std::string(file) + "\n") == 1);
    }
    CHECK(folder.read("logs/45079.T4.synchronize_event.order.blocks_while_gate_closed.txt")
              .find("acme_wait at wait.c:17") != std::string::npos);
    // Again with fewer formats: what is not wanted goes.
    write_folder(folder.path(), build(rich->log, rich->catalogue, rich->evidence), formats_of("json"));
    CHECK(!std::filesystem::exists(folder.path() / names::html));
    CHECK(folder.read(names::sums).find(names::html) == std::string::npos);
    CHECK_THROWS_WITH(formats_of("json,pdf"), Catch::Contains("'pdf'"));
}

TEST_CASE("a disk that refuses is a sentence, and leaves no half file") {
    const auto rich = rich_report();
    const Model model = build(rich->log, rich->catalogue, rich->evidence);
    CHECK_THROWS_WITH(write_folder("/proc/self/no-such-folder", model), Catch::Contains("cannot write"));
}

TEST_CASE("quoting for a shell and for one line") {
    CHECK(shell_quoted("plain-1.2/x=y") == "plain-1.2/x=y");
    CHECK(shell_quoted("") == "''");
    CHECK(shell_quoted("a'b") == "'a'\\''b'");
    CHECK(one_line("a\nb\tc\x01", 100) == "a b c\\x01");
    CHECK(one_line("\xe4\xb8\xad\xe6\x96\x87", 4) == "\xe4\xb8\xad...");
    CHECK(clean("\xc2\x9b"
                "31m \xe2\x80\xae") == "\\xc2\\x9b31m \\xe2\\x80\\xae");
}

TEST_CASE("the summary quotes the first and the last lines of a process that crashed, and of no other") {
    const auto rich = rich_report();
    Log log = rich->log;
    std::string said;
    for (int line = 1; line <= 20; ++line) {
        said += "line " + std::to_string(line) + "\n";
    }
    for (TestEvent& event : log.tests) {
        for (auto& attempts : event.attempts) {
            for (Attempt& attempt : attempts) {
                attempt.output = said;
            }
        }
    }
    const Model model = build(log, rich->catalogue, rich->evidence);
    std::ostringstream out;
    print_summary(out, model);
    const uint64_t dead = model.totals.all[Verdict::crash] + model.totals.all[Verdict::hang];
    REQUIRE(dead != 0);
    for (const char* quoted : {"| line 1\n", "| line 8\n", "| ...\n", "| line 13\n", "| line 20\n"}) {
        CHECK(count(out.str(), quoted) == dead);
    }
    CHECK(count(out.str(), "| line 9\n") + count(out.str(), "| line 12\n") == 0);
}

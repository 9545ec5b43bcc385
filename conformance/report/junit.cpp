#include "escape.hpp"
#include "fill.hpp"
#include "render.hpp"
#include "view.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

struct Tally {
    uint64_t tests = 0, failures = 0, errors = 0, skipped = 0, ms = 0;

    void add(const json& test, uint64_t took) {
        ++tests;
        failures += test.at("failed").get<bool>() ? 1 : 0;
        errors += test.at("error").get<bool>() ? 1 : 0;
        skipped += test.at("skipped").get<bool>() ? 1 : 0;
        ms += took;
    }
    void into(json& to) const {
        to["tests_total"] = tests;
        to["failures"] = failures;
        to["errors"] = errors;
        to["skipped"] = skipped;
        to["seconds"] = seconds(ms);
    }
};

json testcase(const TestResult& test, bool waivers_ok) {
    const Verdict verdict = test.verdict();
    const bool excused = test.is_waived() && waivers_ok;
    const bool absent =
        verdict == Verdict::not_implemented || verdict == Verdict::not_applicable || verdict == Verdict::not_run;
    const std::string reason = one_line(test.judgement.reason);
    const std::string message = test.is_waived() ? "waived by " + test.waived_by + ": " + reason : reason;
    return {{"id", test.id},
            {"seconds", seconds(test.ms)},
            {"verdict", name(verdict)},
            {"message", absent ? std::string(name(verdict)) + ": " + message : message},
            {"failed", test.is_bad() && !excused},
            {"error", verdict == Verdict::harness_error},
            {"skipped", absent || excused},
            {"details", details_of(test)},
            {"output", verdict == Verdict::quality ? details_of(test) : ""}};
}

}  // namespace

std::string junit_text(const Model& model) {
    json suites = json::array();
    Tally all;
    const auto add = [&](const std::string& name, const Group& group) {
        if (group.tests.empty()) {
            return;
        }
        Tally tally;
        json suite{{"name", name}, {"tests", json::array()}, {"is_first", suites.empty()}};
        for (const size_t index : group.tests) {
            const TestResult& test = model.tests[index];
            suite["tests"].push_back(testcase(test, model.waivers_ok));
            tally.add(suite["tests"].back(), test.ms);
            all.add(suite["tests"].back(), test.ms);
        }
        tally.into(suite);
        suites.push_back(std::move(suite));
    };
    for (const Row& row : model.rows) {
        add(row_name(*row.entry) + " " + std::string(row.entry->name), row);
    }
    for (const Topic& topic : model.topics) {
        add(topic.key, topic);
    }
    json values{{"target", {{"id", model.begin.target.id}}},
                {"start", model.begin.time},
                {"counts", counts_view(model.totals.all)},
                {"suites", std::move(suites)}};
    all.into(values);
    return fill("junit.xml", values, escape_xml);
}

}  // namespace hal::conformance

#include "view.hpp"

#include <algorithm>
#include <cstdio>

#include "curves.hpp"
#include "escape.hpp"
#include "json.hpp"
#include "text.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

// Of a row's or topic's tests, as one line each.
json test_lines(const Group& group, const Model& model) {
    json lines = json::array();
    for (const size_t index : group.tests) {
        const TestResult& test = model.tests[index];
        const Attempt* last = test.last();
        lines.push_back({{"id", test.id},
                         {"verdict", name(test.verdict())},
                         {"kind", kind_of(test.verdict())},
                         {"title", {{"en", test.title.en}, {"zh", test.title.zh}}},
                         {"checks", last == nullptr ? 0 : last->record.checks_ok + last->record.bad()},
                         {"ms", test.ms},
                         {"reason", one_line(test.judgement.reason, 300)},
                         {"waived_by", test.waived_by}});
    }
    return lines;
}

void add_group(json& to, const Group& group, const Model& model) {
    to["kind"] = kind_of(group.verdict);
    const uint64_t percent = group.total == 0 ? 0 : 100 * group.applicable / group.total;
    to["percent"] = percent;
    to["depth_text"] = std::to_string(group.applicable) + "/" + std::to_string(group.total);
    to["tests"] = test_lines(group, model);
    to["has_tests"] = !group.tests.empty();
}

// The profile "full" requires what is claimed, which says nothing.
const char* need_of(const Model& model, const Row& row) {
    return row.mandatory ? "M" : row.required && model.begin.run.profile != "full" ? "P" : "O";
}

// The rows by table, each with its place in the grid.
json grid_of(const json& rows, const Model& model) {
    json grid = json::array();
    for (const TableInfo& table : tables) {
        json cells = json::array();
        for (size_t i = table.first; i < table.first + table.count; ++i) {
            json cell = rows[i];
            const Row& row = model.rows[i];
            add_group(cell, row, model);
            cell["need"] = need_of(model, row);
            cell["not_there"] = row.verdict == Verdict::not_implemented;
            cells.push_back(std::move(cell));
        }
        const Bilingual title = table_title(table);
        grid.push_back({{"standard", table.standard()},
                        {"title", {{"en", title.en}, {"zh", title.zh}}},
                        {"rows", std::move(cells)}});
    }
    return grid;
}

json decorated(json headline, Outcome outcome) {
    headline["kind"] = kind_of(outcome);
    static const std::array<Bilingual, 4> met{
        {{"met", "满足"}, {"met with waivers", "豁免后满足"}, {"not met", "不满足"}, {"incomplete", "未完成"}}};
    const Bilingual& word = met[static_cast<size_t>(outcome)];
    headline["met"] = {{"en", word.en}, {"zh", word.zh}};
    return headline;
}

json chosen_tests(const json& tests, const Model& model, bool (*wanted)(const TestResult&)) {
    json chosen = json::array();
    for (size_t i = 0; i < model.tests.size(); ++i) {
        if (wanted(model.tests[i])) {
            json test = tests[i];
            test["kind"] = kind_of(model.tests[i].verdict());
            chosen.push_back(std::move(test));
        }
    }
    return chosen;
}

json facts_list(const Model& model) {
    json list = json::array();
    const auto add = [&](const std::string& key, const std::string& value) {
        if (!value.empty()) {
            list.push_back({{"key", key}, {"value", value}});
        }
    };
    const auto& target = model.begin.target;
    add("manifest", one_line(target.manifest));
    add("manifest sha256", target.manifest_sha256);
    add("library", one_line(target.library));
    add("library sha256", target.library_sha256);
    for (const auto& [key, value] : target.options) {
        add(one_line("option " + key), one_line(value));
    }
    if (model.facts) {
        const Identity& identity = model.facts->identity;
        add("vendor", identity.vendor);
        add("build", identity.build);
        add("ABI", identity.abi_version);
        for (size_t i = 0; i < identity.devices.size(); ++i) {
            const auto& device = identity.devices[i];
            add("device " + std::to_string(i), device.name + " (" + device.type + "), driver " + device.driver_version +
                                                   ", runtime " + device.runtime_version);
        }
    }
    add("suite", model.begin.suite.version + ", " + model.begin.suite.build);
    add("catalogue", model.begin.suite.catalogue);
    for (const auto& [key, value] : model.begin.host) {
        add(key, one_line(value, 300));
    }
    std::string command;
    for (const std::string& word : model.begin.run.command) {
        command += (command.empty() ? "" : " ") + shell_quoted(word);
    }
    add("command", one_line(command, 2000));
    return list;
}

void add_power(json& view, const Model& model) {
    if (!model.power) {
        return;
    }
    json& power = view["power"];
    const size_t survivors = model.power->survivors().size();
    power["killed_count"] = model.power->mutants() - survivors;
    power["accused_count"] = model.power->accused.size();
    power["harmless_count"] = model.power->harmless.size();
    power["kind"] = survivors == 0 && model.power->accused.empty() ? "good" : "bad";
    power["other_catalogue"] = model.power->catalogue != model.begin.suite.catalogue;
}

}  // namespace

std::string seconds(uint64_t ms) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ms) / 1000.0);
    return text;
}

json counts_view(const Counts& counts) {
    json list = json::array();
    for (const Verdict verdict : {Verdict::pass, Verdict::fail, Verdict::crash, Verdict::hang, Verdict::flaky,
                                  Verdict::blocked, Verdict::quality, Verdict::not_implemented, Verdict::not_applicable,
                                  Verdict::not_run, Verdict::harness_error}) {
        list.push_back({{"verdict", name(verdict)},
                        {"count", counts[verdict]},
                        {"kind", counts[verdict] == 0 ? "none" : kind_of(verdict)}});
    }
    return list;
}

std::string details_of(const TestResult& test) {
    std::string text = test.judgement.reason + "\n";
    if (const Attempt* last = test.last()) {
        for (const Finding& finding : last->record.findings) {
            text +=
                finding.where + ": " + finding.what + ": expected " + finding.expected + ", got " + finding.got + "\n";
        }
        for (const std::string* more : {&last->ending.stacks, &last->output}) {
            if (!more->empty()) {
                text += *more + (more->back() == '\n' ? "" : "\n");
            }
        }
    }
    return text + "again: " + test.reproduce + "\n";
}

json page_view(const Model& model) {
    json view = report_json(model);
    view["headlines"][0] = decorated(view["headlines"][0], model.standard.outcome);
    view["headlines"][1] = decorated(view["headlines"][1], model.abi.outcome);
    for (size_t i = 0; i < model.profiles.size(); ++i) {
        view["profiles"][i] = decorated(view["profiles"][i], model.profiles[i].outcome);
        if (&model.profiles[i] == &model.profile()) {
            view["profiles"][i]["chosen"] = true;
            view["profile"] = view["profiles"][i];
        }
    }
    view["grid"] = grid_of(view["rows"], model);
    for (size_t i = 0; i < model.topics.size(); ++i) {
        add_group(view["topics"][i], model.topics[i], model);
    }
    view["bad"] = chosen_tests(view["tests"], model, [](const TestResult& test) { return test.is_bad(); });
    view["quality"] =
        chosen_tests(view["tests"], model, [](const TestResult& test) { return test.verdict() == Verdict::quality; });
    view["unknown"] = chosen_tests(view["tests"], model,
                                   [](const TestResult& test) { return test.verdict() == Verdict::harness_error; });
    view["remarks"] = view["quality"];
    view["remarks"].insert(view["remarks"].end(), view["unknown"].begin(), view["unknown"].end());
    view["counts"] = counts_view(model.totals.all);
    view["counts_line"] = counts_line(model.totals.all);
    view["facts_list"] = facts_list(model);
    view["metrics"] = metrics_view(model);
    view["run"]["left_out_any"] = model.totals.left_out != 0;
    view["catalogue_short"] = model.begin.suite.catalogue.substr(0, 12);
    char seed[32];
    std::snprintf(seed, sizeof seed, "0x%llx", static_cast<unsigned long long>(model.begin.run.seed));
    view["seed"] = seed;
    view["totals_json"] = view["totals"]["all"].dump();
    add_power(view, model);
    return view;
}

}  // namespace hal::conformance

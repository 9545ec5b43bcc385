#include "json.hpp"

#include "catalogue/clauses.hpp"
#include "engine/events_json.hpp"
#include "engine/plan.hpp"
#include "escape.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

constexpr size_t most_findings = 5;
constexpr size_t log_tail = 4096;

json of(const Bilingual& text) {
    return {{"en", text.en}, {"zh", text.zh}};
}

json of(const Counts& counts) {
    json result = json::object();
    for (size_t i = 0; i < verdict_count; ++i) {
        result[std::string(name(static_cast<Verdict>(i)))] = counts.of[i];
    }
    return result;
}

json of(const std::array<Counts, 4>& by_authority) {
    return {
        {"S", of(by_authority[0])}, {"D", of(by_authority[1])}, {"A", of(by_authority[2])}, {"Q", of(by_authority[3])}};
}

json of(const Headline& headline) {
    json reasons = json::array();
    for (const Bilingual& reason : headline.reasons) {
        reasons.push_back(of(reason));
    }
    return {{"key", headline.key},
            {"title", of(headline.title)},
            {"outcome", name(headline.outcome)},
            {"shown", of(shown(headline.outcome))},
            {"reasons", reasons}};
}

json attempts_of(const TestResult& test) {
    json groups = json::array();
    for (const auto& group : test.attempts) {
        json runs = json::array();
        for (const Attempt& attempt : group) {
            runs.push_back({{"ending", attempt.ending.kind},
                            {"code", attempt.ending.code},
                            {"text", attempt.ending.text},
                            {"inconclusive", attempt.record.inconclusive},
                            {"checks_ok", attempt.record.checks_ok},
                            {"checks_bad", attempt.record.bad()},
                            {"ms", attempt.ms}});
        }
        groups.push_back(std::move(runs));
    }
    return groups;
}

std::string tail(const std::string& text) {
    // clean() again, because the cut may be in the middle of a character.
    return text.size() <= log_tail ? text : "..." + clean(std::string_view(text).substr(text.size() - log_tail));
}

json of(const TestResult& test) {
    json result{{"id", test.id},
                {"title", of(test.title)},
                {"clauses", test.clauses},
                {"authority", test.authority},
                {"class", name(test.cls)},
                {"entry", test.entry == nullptr ? "" : test.entry->name},
                {"verdict", name(test.verdict())},
                {"breaks_standard", test.judgement.breaks_standard},
                {"reason", test.judgement.reason},
                {"waived_by", test.waived_by},
                {"checks_ok", 0},
                {"checks_bad", 0},
                {"findings", json::array()},
                {"attempts", attempts_of(test)},
                {"ms", test.ms},
                {"seed", test.seed},
                {"metrics", json::array()},
                {"meters", json::object()},
                {"stacks", ""},
                {"log_tail", ""},
                {"reproduce", test.reproduce}};
    if (const Attempt* last = test.last()) {
        const auto& findings = last->record.findings;
        result["checks_ok"] = last->record.checks_ok;
        result["checks_bad"] = last->record.bad();
        result["findings"] = std::vector<Finding>(
            findings.begin(), findings.begin() + static_cast<ptrdiff_t>(std::min(findings.size(), most_findings)));
        result["metrics"] = last->metrics;
        result["meters"] = last->meters;
        result["stacks"] = last->ending.stacks;
        result["log_tail"] = tail(last->output);
    }
    return result;
}

json of(const Group& group) {
    return {{"verdict", name(group.verdict)},
            {"shown", group.text()},
            {"reason", group.reason},
            {"waived", group.waived},
            {"counts", of(group.counts)},
            {"depth", {{"applicable", group.applicable}, {"total", group.total}, {"left_out", group.left_out}}},
            {"authorities", group.authorities}};
}

json of(const Row& row) {
    json result = of(static_cast<const Group&>(row));
    const TableInfo& table = table_of(*row.entry);
    result.update({{"table", table.id},
                   {"table_name", table.name},
                   {"row", row.entry->row},
                   {"name", row_name(*row.entry)},
                   {"entry", row.entry->name},
                   {"zh", chinese_name(row.entry->name)},
                   {"standard", table.standard()},
                   {"mandatory", row.mandatory},
                   {"required", row.required},
                   {"claimed", row.claimed},
                   {"present", row.present}});
    return result;
}

json of(const Topic& topic) {
    json result = of(static_cast<const Group&>(topic));
    result["key"] = topic.key;
    result["title"] = of(topic.title);
    return result;
}

json of(const Waiver& waiver) {
    return {{"id", waiver.id},           {"tests", waiver.tests},     {"verdict", name(waiver.verdict)},
            {"message", waiver.message}, {"vendor", waiver.vendor},   {"device", waiver.device},
            {"driver", waiver.driver},   {"reason", waiver.reason},   {"tracker", waiver.tracker},
            {"owner", waiver.owner},     {"created", waiver.created}, {"expires", waiver.expires}};
}

json of(const Power& power) {
    json result = power;
    result["mutants"] = power.mutants();
    result["survivors"] = power.survivors();
    return result;
}

template <class List>
json list_of(const List& list) {
    json result = json::array();
    for (const auto& one : list) {
        result.push_back(of(one));
    }
    return result;
}

json run_of(const Model& model) {
    json run = model.begin.run;
    run["start"] = model.begin.time;
    run["end"] = model.end ? model.end->time : "";
    run["complete"] = model.end.has_value();
    run["interrupted"] = model.end && model.end->interrupted;
    run["device_lost"] = model.end && model.end->device_lost;
    run["failure"] = model.end ? model.end->failure : "";
    run["left_out"] = model.totals.left_out;
    run["exit_causes"] = model.exit_causes;
    run["exit_code"] = model.exit_code();
    return run;
}

json gaps_of(const Model& model) {
    json gaps = json::array();
    for (const Clause& clause : all_clauses()) {
        if (!clause.available) {
            gaps.push_back({{"id", clause.id},
                            {"en", clause.gloss.en + ": the text is not available"},
                            {"zh", clause.gloss.zh + "：没有文本"}});
        }
    }
    for (const Row& row : model.rows) {
        if (row.tests.empty() && row.left_out == 0) {
            const std::string entry(row.entry->name);
            gaps.push_back(
                {{"id", row_name(*row.entry)}, {"en", entry + ": no case tests it"}, {"zh", entry + "：没有测试用例"}});
        }
    }
    return gaps;
}

// Paths, words of the command line and the like, whatever they hold.
void clean_texts(json& value) {
    if (value.is_string()) {
        value = clean(value.get_ref<const std::string&>());
    } else if (value.is_structured()) {
        for (json& child : value) {
            clean_texts(child);
        }
    }
}

}  // namespace

json report_json(const Model& model) {
    json result{{"schema_version", "1.0"},
                {"suite", model.begin.suite},
                {"target", model.begin.target},
                {"host", model.begin.host},
                {"run", run_of(model)},
                {"identity", model.facts ? json(model.facts->identity) : json(nullptr)},
                {"facts", model.facts ? json(model.facts->facts) : json(nullptr)},
                {"headlines", json::array({of(model.standard), of(model.abi)})},
                {"profiles", list_of(model.profiles)},
                {"rows", list_of(model.rows)},
                {"topics", list_of(model.topics)},
                {"tests", list_of(model.tests)},
                {"totals",
                 {{"all", of(model.totals.all)},
                  {"mandatory", of(model.totals.mandatory)},
                  {"optional", of(model.totals.optional)},
                  {"profile", of(model.totals.profile)},
                  {"general", of(model.totals.general)}}},
                {"claims_not_shown", json::array()},
                {"waivers", list_of(model.waivers.list)},
                {"waiver_faults", model.waiver_faults},
                {"gaps", gaps_of(model)},
                {"power", model.power ? of(*model.power) : json(nullptr)}};
    for (const Claim& claim : model.claims_not_shown) {
        result["claims_not_shown"].push_back({{"what", claim.what}, {"why", of(claim.why)}});
    }
    clean_texts(result);
    return result;
}

std::string json_text(const Model& model) {
    return report_json(model).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace hal::conformance

#include "model.hpp"

#include <algorithm>
#include <numeric>

#include "catalogue/titles.hpp"
#include "engine/plan.hpp"
#include "escape.hpp"
#include "model_parts.hpp"

namespace hal::conformance {
namespace {

std::string reproduce_command(const BeginEvent& begin, const std::string& id) {
    std::string text = is_figure(id) ? "hal-conformance perf" : "hal-conformance run";
    text += " --manifest " + shell_quoted(begin.target.manifest);
    for (const auto& [key, value] : begin.target.options) {
        text += " --option " + shell_quoted(key + "=" + value);
    }
    char seed[32];
    std::snprintf(seed, sizeof seed, "0x%llx", static_cast<unsigned long long>(begin.run.seed));
    return text + " --exact " + shell_quoted(id) + " --seed " + seed;
}

void clean_attempt(Attempt& attempt) {
    attempt.ending.text = clean(attempt.ending.text);
    attempt.ending.stacks = clean(attempt.ending.stacks);
    attempt.output = clean(attempt.output);
    attempt.record.inconclusive = clean(attempt.record.inconclusive);
    attempt.record.harness_error = clean(attempt.record.harness_error);
    for (Finding& finding : attempt.record.findings) {
        finding.what = clean(finding.what);
        finding.expected = clean(finding.expected);
        finding.got = clean(finding.got);
    }
    for (Metric& metric : attempt.metrics) {
        metric.name = clean(metric.name);
    }
}

TestResult described(const std::string& id, const Catalogue& catalogue, const BeginEvent& begin) {
    TestResult result;
    result.id = id;
    result.reproduce = reproduce_command(begin, id);
    if (const Instance* instance = catalogue.find(id)) {
        const Case& one = *instance->origin;
        const Title title = title_of(one.id);
        result.title = {std::string(title.en), std::string(title.zh)};
        result.clauses.assign(one.clauses.begin(), one.clauses.end());
        result.authority = one.authority;
        result.cls = one.cls;
        result.entry = row_of(one.id);
    }
    return result;
}

// What a planned case without an event is called.
std::string never_ran(const Log& log) {
    if (!log.end) {
        return "the run was killed before this case";
    }
    return log.end->interrupted   ? "the run was interrupted before this case"
           : log.end->device_lost ? "the device was lost before this case"
                                  : "the run ended before this case";
}

void clean_identity(Identity& identity) {
    for (std::string* text : {&identity.name, &identity.vendor, &identity.version, &identity.build}) {
        *text = one_line(*text);
    }
    for (auto& device : identity.devices) {
        for (std::string* text : {&device.name, &device.type, &device.driver_version, &device.runtime_version,
                                  &device.compute_capability}) {
            *text = one_line(*text);
        }
    }
}

void waive(Model& model, const Catalogue& catalogue, const Waivers& waivers) {
    model.waivers = waivers;
    const auto& words = model.begin.run.command;
    model.waivers_ok = std::find(words.begin(), words.end(), "--waivers-ok") != words.end();
    if (waivers.list.empty()) {
        return;
    }
    model.waiver_faults = waiver_faults(waivers, model.begin.time.substr(0, 10), catalogue.ids());
    if (model.waiver_faults.empty()) {
        model.waiver_faults = apply_waivers(waivers, model.tests, model.facts ? model.facts->identity : Identity{});
    }
}

}  // namespace

const Instance* Catalogue::find(std::string_view id) const {
    return find_instance(instances, id);
}

std::vector<std::string> Catalogue::ids() const {
    std::vector<std::string> result;
    for (const Instance& one : instances) {
        result.push_back(one.id);
    }
    return result;
}

Catalogue compiled_in() {
    return {all_instances(), catalogue_hash()};
}

bool is_figure(std::string_view id) {
    return id.starts_with("perf.");
}

const EntryInfo* row_of(std::string_view id) {
    return is_figure(id) ? nullptr : entry_of(id);
}

uint64_t Counts::total() const {
    return std::accumulate(of.begin(), of.end(), uint64_t{0});
}

uint64_t Counts::bad() const {
    uint64_t sum = 0;
    for (size_t i = 0; i < of.size(); ++i) {
        sum += conformance::bad(static_cast<Verdict>(i)) ? of[i] : 0;
    }
    return sum;
}

const Attempt* TestResult::last() const {
    return attempts.empty() || attempts[shown].empty() ? nullptr : &attempts[shown].back();
}

Judged judged(const Instance* instance, const std::optional<FactsEvent>& facts, const TestEvent& event) {
    if (instance == nullptr) {
        return {{Verdict::harness_error, false, "the catalogue of this program has no such case"}, 0};
    }
    if (facts) {
        if (auto before = not_applicable(*instance, facts->facts)) {
            return {std::move(*before), 0};
        }
    }
    if (event.attempts.empty()) {
        // The device was lost, or a case before it failed; what is said here may not be that it does not apply.
        const bool known = event.not_run && event.not_run->verdict >= Verdict::not_run;
        return {known ? *event.not_run : Judgement{Verdict::not_run, false, "not run, and the log does not say why"},
                0};
    }
    std::vector<Judgement> each;
    for (const auto& group : event.attempts) {
        each.push_back(judge(instance->origin->authority, group));
    }
    const auto worst = std::max_element(each.begin(), each.end(),
                                        [](const Judgement& a, const Judgement& b) { return a.verdict < b.verdict; });
    return {repeated(each), static_cast<size_t>(worst - each.begin())};
}

void add_tests(Model& model, const Log& log, const Catalogue& catalogue) {
    std::map<std::string, TestResult> by_id;
    for (const std::string& id : log.begin.planned) {
        TestResult result = described(id, catalogue, log.begin);
        result.judgement = {Verdict::not_run, false, never_ran(log)};
        by_id.emplace(id, std::move(result));
    }
    for (const TestEvent& event : log.tests) {
        TestResult result = described(event.id, catalogue, log.begin);
        Judged verdict = judged(catalogue.find(event.id), log.facts, event);
        result.judgement = std::move(verdict.judgement);
        result.judgement.reason = clean(result.judgement.reason);
        result.shown = verdict.shown;
        result.seed = event.seed;
        result.ms = event.ms;
        result.attempts = event.attempts;
        for (auto& group : result.attempts) {
            std::for_each(group.begin(), group.end(), clean_attempt);
        }
        by_id[event.id] = std::move(result);
    }
    for (auto& [id, result] : by_id) {
        model.tests.push_back(std::move(result));
    }
}

const Headline& Model::profile() const {
    return *std::find_if(profiles.begin(), profiles.end(),
                         [&](const Headline& one) { return one.key == begin.run.profile; });
}

bool Model::only_figures() const {
    return !tests.empty() &&
           std::all_of(tests.begin(), tests.end(), [](const TestResult& test) { return is_figure(test.id); });
}

const Facts& Model::known_facts() const {
    static const Facts nothing;
    return facts ? facts->facts : nothing;
}

Model build(const Log& log, const Catalogue& catalogue, const Evidence& evidence) {
    Model model;
    model.begin = log.begin;
    model.facts = log.facts;
    model.end = log.end;
    if (model.begin.run.profile.empty()) {
        model.begin.run.profile = "full";
    }
    if (find_profile(model.begin.run.profile) == nullptr) {
        throw LogError("the log names the profile " + one_line(model.begin.run.profile) +
                       ", and there is none of that name");
    }
    if (model.facts) {
        clean_identity(model.facts->identity);
    }
    add_tests(model, log, catalogue);
    waive(model, catalogue, evidence.waivers);
    model.power = evidence.power;
    add_rows(model, catalogue);
    add_totals(model);
    add_headlines(model);
    add_claims(model, catalogue);
    add_exit(model);
    return model;
}

}  // namespace hal::conformance

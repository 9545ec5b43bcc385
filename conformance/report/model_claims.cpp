// What the plug-in claims and no test showed; and how the run ends.
#include <algorithm>

#include "model_parts.hpp"

namespace hal::conformance {
namespace {

// The worst of the tests that need a claim; nothing if there is none.
std::optional<Verdict> shown_by(const Model& model, const Catalogue& catalogue, Need::Kind kind,
                                std::string_view text) {
    std::optional<Verdict> worst;
    for (const TestResult& test : model.tests) {
        const Instance* instance = catalogue.find(test.id);
        const bool needs = instance != nullptr &&
                           std::any_of(instance->needs.begin(), instance->needs.end(),
                                       [&](const Need& need) { return need.kind == kind && need.text == text; });
        if (needs) {
            worst = worst ? worse(*worst, test.verdict()) : test.verdict();
        }
    }
    return worst;
}

bool shows(Verdict verdict) {
    return verdict == Verdict::pass || verdict == Verdict::quality;
}

void add_behaviour(Model& model, const Catalogue& catalogue, Need::Kind kind, std::string_view claim) {
    const auto verdict = shown_by(model, catalogue, kind, claim);
    if (!verdict) {
        model.claims_not_shown.push_back(
            {std::string(claim), {"no case that ran measures it", "没有运行任何验证它的用例"}});
    } else if (!shows(*verdict)) {
        const std::string text(name(*verdict));
        model.claims_not_shown.push_back({std::string(claim), {text, text}});
    }
}

}  // namespace

void add_claims(Model& model, const Catalogue& catalogue) {
    size_t left_out = 0;
    for (const Row& row : model.rows) {
        const bool silent = row.filtered_out() && !bad(row.verdict);
        left_out += silent && row.claimed ? 1 : 0;
        if (row.claimed && !silent && !shows(row.verdict)) {
            const std::string verdict(name(row.verdict));
            const std::string reason = row.reason.empty() ? verdict : verdict + ": " + row.reason;
            model.claims_not_shown.push_back({std::string(row.entry->name), {reason, reason}});
        }
    }
    if (left_out != 0) {
        const std::string count = std::to_string(left_out);
        const std::string noun = left_out == 1 ? " row" : " rows";
        model.claims_not_shown.push_back({count + noun, {"left out of this run", "本次运行未包含"}});
    }
    const Facts& facts = model.known_facts();
    for (const std::string& claim : facts.behaviour) {
        add_behaviour(model, catalogue, Need::Kind::claim, claim);
    }
    std::map<std::string_view, uint32_t> flags;
    for (const Instance& instance : catalogue.instances) {
        for (const Need& need : instance.needs) {
            if (need.kind == Need::Kind::device_flag && (facts.device_flags & need.value) != 0) {
                flags.emplace(need.text, need.value);
            }
        }
    }
    for (const auto& [text, value] : flags) {
        add_behaviour(model, catalogue, Need::Kind::device_flag, text);
    }
}

std::vector<int> ranked(std::vector<int> causes) {
    static constexpr std::array order{130, 2, 3, 6, 5, 4, 1, 7, 0};
    const auto rank = [](int cause) { return std::find(order.begin(), order.end(), cause) - order.begin(); };
    std::sort(causes.begin(), causes.end(), [&](int a, int b) { return rank(a) < rank(b); });
    causes.erase(std::unique(causes.begin(), causes.end()), causes.end());
    if (causes.size() > 1 && causes.back() == 0) {
        causes.pop_back();
    }
    return causes.empty() ? std::vector<int>{0} : causes;
}

void add_exit(Model& model) {
    std::vector<int> causes;
    const auto cause = [&](bool holds, int code) {
        if (holds) {
            causes.push_back(code);
        }
    };
    const Counts& all = model.totals.all;
    bool waived = false;
    bool unwaived = false;
    uint64_t ran = 0;
    for (const TestResult& test : model.tests) {
        waived = waived || (test.is_bad() && test.is_waived());
        unwaived = unwaived || (test.is_bad() && !test.is_waived());
        ran +=
            test.verdict() > Verdict::not_run || test.verdict() == Verdict::pass || test.verdict() == Verdict::quality;
    }
    for (const Row& row : model.rows) {
        unwaived = unwaived || (model.facts && !row.present && bad(row.verdict) && !row.waived);
    }
    cause(model.end && model.end->interrupted, 130);
    cause(!model.waiver_faults.empty(), 2);
    cause(!model.facts, 3);
    cause(all[Verdict::harness_error] != 0 || (model.end && !model.end->failure.empty()), 6);
    cause(model.end && model.end->device_lost, 5);
    cause(!model.end || ran == 0 || all[Verdict::not_run] != 0 || model.known_facts().device_count <= 0, 4);
    cause(unwaived, 1);
    cause(waived, model.waivers_ok ? 0 : 7);
    model.exit_causes = ranked(std::move(causes));
}

}  // namespace hal::conformance

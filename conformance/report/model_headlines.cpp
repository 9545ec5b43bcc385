// The headlines: is this plug-in conformant, and to what.
#include <algorithm>

#include "model_parts.hpp"

namespace hal::conformance {
namespace {

bool counts_for_standard(const TestResult& test) {
    return test.authority == authority::S || test.authority == authority::D;
}

std::string count(uint64_t number, std::string_view noun) {
    return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

// What is known of a headline while it is computed.
struct Finding {
    std::vector<Bilingual> broken, open, waived;

    [[nodiscard]] Outcome outcome() const {
        return !broken.empty()   ? Outcome::not_conformant
               : !open.empty()   ? Outcome::incomplete
               : !waived.empty() ? Outcome::conformant_with_waivers
                                 : Outcome::conformant;
    }
    [[nodiscard]] Headline headline(std::string key, Bilingual title) const {
        Headline result{std::move(key), std::move(title), outcome(), broken};
        result.reasons.insert(result.reasons.end(), open.begin(), open.end());
        result.reasons.insert(result.reasons.end(), waived.begin(), waived.end());
        return result;
    }
};

// A run that did not come to its end decides nothing that is good.
void add_incidents(Finding& finding, const Model& model) {
    const auto open = [&](std::string en, std::string zh) { finding.open.push_back({std::move(en), std::move(zh)}); };
    if (!model.facts) {
        open("the plug-in did not answer what it offers", "插件未能回答其能力");
    } else if (model.facts->facts.device_count <= 0) {
        open("there is no device", "没有可用设备");
    }
    if (!model.end) {
        open("the run was killed: its log has no end", "运行被终止：日志没有结尾");
    } else {
        if (model.end->interrupted) {
            open("the run was interrupted", "运行被中断");
        }
        if (model.end->device_lost) {
            open("the device was lost", "设备丢失");
        }
        if (!model.end->failure.empty()) {
            open("the suite failed: " + model.end->failure, "测试程序自身出错：" + model.end->failure);
        }
    }
    if (model.totals.left_out != 0) {
        const std::string left = std::to_string(model.totals.left_out);
        open("PARTIAL RUN: " + left + " cases were left out", "部分运行：跳过了 " + left + " 个用例");
    }
}

Headline over_tests(const Model& model, std::string key, Bilingual title, bool standard) {
    Finding finding;
    uint64_t broken = 0;
    uint64_t waived = 0;
    uint64_t unknown = 0;
    uint64_t not_run = 0;
    for (const TestResult& test : model.tests) {
        const bool scope = !standard || counts_for_standard(test);
        if (test.is_bad() && (!standard || test.judgement.breaks_standard)) {
            ++(test.is_waived() ? waived : broken);
        }
        unknown += scope && test.verdict() == Verdict::harness_error ? 1 : 0;
        not_run += scope && test.verdict() == Verdict::not_run ? 1 : 0;
    }
    if (broken != 0) {
        finding.broken.push_back({count(broken, "test") + " failed", std::to_string(broken) + " 个用例未通过"});
    }
    for (const Row& row : model.rows) {
        const bool fault = !row.present && (row.mandatory || (!standard && row.claimed));
        if (model.facts && fault) {
            const std::string entry(row.entry->name);
            finding.broken.push_back(
                {entry + ": " + row.reason, entry + (row.mandatory ? "：必选接口缺失" : "：声明的接口缺失")});
        }
    }
    if (unknown != 0) {
        finding.open.push_back({count(unknown, "harness error") + ": the suite could not tell",
                                std::to_string(unknown) + " 个用例因测试程序自身错误而无结论"});
    }
    if (not_run != 0) {
        finding.open.push_back({count(not_run, "test") + " did not run", std::to_string(not_run) + " 个用例未运行"});
    }
    add_incidents(finding, model);
    if (waived != 0) {
        finding.waived.push_back({count(waived, "failure") + " waived", std::to_string(waived) + " 个失败已豁免"});
    }
    return finding.headline(std::move(key), std::move(title));
}

void add_row(Finding& finding, const Row& row) {
    const std::string entry(row.entry->name);
    const std::string verdict(name(row.verdict));
    if (row.waived) {
        finding.waived.push_back({entry + " is waived", entry + " 已豁免"});
    } else if (bad(row.verdict)) {
        finding.broken.push_back({entry + ": " + (row.reason.empty() ? verdict : row.reason), entry + "：" + verdict});
    } else if (row.verdict != Verdict::pass && row.verdict != Verdict::quality && !row.filtered_out()) {
        finding.open.push_back({entry + " is not shown: " + verdict, entry + " 未得到验证：" + verdict});
    }
}

Headline over_profile(const Model& model, const Profile& profile) {
    Finding finding;
    const Facts& facts = model.known_facts();
    for (const EntryInfo* entry : required_rows(profile, facts)) {
        Row row = model.rows[static_cast<size_t>(entry - entries.data())];
        // Rows that this profile requires and the one of the run did not.
        if (model.facts && !row.present && !bad(row.verdict)) {
            row.verdict = Verdict::fail;
            row.reason = "absent";
        }
        add_row(finding, row);
    }
    if (profile.route && model.facts) {
        const auto all = routes(facts);
        if (std::none_of(all.begin(), all.end(), [](const Route& one) { return one.missing.empty(); })) {
            finding.broken.push_back({"no compute route is complete (operators, graph engine, compiler)",
                                      "没有一条完整的计算接入路径（算子、图引擎、编译器）"});
        }
        for (const Route& one : all) {
            if (one.claimed && !one.missing.empty()) {
                finding.broken.push_back({"route " + std::string(one.name) + " lacks " + one.missing,
                                          "接入路径 " + std::string(one.name) + " 缺少 " + one.missing});
            }
        }
    }
    add_incidents(finding, model);
    return finding.headline(std::string(profile.name), profile.title);
}

}  // namespace

std::string_view name(Outcome outcome) {
    static constexpr std::array<std::string_view, 4> names{"CONFORMANT", "CONFORMANT_WITH_WAIVERS", "NOT_CONFORMANT",
                                                           "INCOMPLETE"};
    return names[static_cast<size_t>(outcome)];
}

Bilingual shown(Outcome outcome) {
    static const std::array<Bilingual, 4> texts{{{"conformant", "符合"},
                                                 {"conformant with waivers", "豁免后符合"},
                                                 {"not conformant", "不符合"},
                                                 {"incomplete", "未完成"}}};
    return texts[static_cast<size_t>(outcome)];
}

void add_headlines(Model& model) {
    model.standard = over_tests(model, "standard", {"GB/T 45079-2024", "GB/T 45079-2024"}, true);
    model.abi = over_tests(model, "abi", {"HAL ABI", "HAL ABI"}, false);
    for (const Profile& profile : all_profiles()) {
        model.profiles.push_back(over_profile(model, profile));
    }
}

}  // namespace hal::conformance

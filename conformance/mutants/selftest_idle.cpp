#include "selftest_idle.hpp"

#include <algorithm>
#include <set>

#include "catalogue.hpp"
#include "engine/plan.hpp"

namespace hal::conformance {

void note_unknown_idle_names(SelftestReport& report) {
    for (const IdleCase& idle : all_idle()) {
        if (std::none_of(all_cases().begin(), all_cases().end(), [&](const Case& one) { return one.id == idle.id; })) {
            report.faults.push_back("idle.def: no case " + std::string(idle.id));
        }
    }
}

void note_idle_cases(SelftestReport& report, SelftestBase& base) {
    std::set<std::string_view> useful;
    const auto note = [&](std::string_view id) { useful.insert(id.substr(0, id.find('['))); };
    for (const KillResult& kill : report.kills) {
        std::for_each(kill.by.begin(), kill.by.end(), note);
    }
    for (const GeneratedResult& generated : report.generated) {
        std::for_each(generated.killers.begin(), generated.killers.end(), note);
    }
    for (const Case& one : all_cases()) {
        const bool excused = !why_idle(one.id).empty();
        if (useful.contains(one.id)) {
            if (excused) {
                report.faults.push_back("idle.def: " + std::string(one.id) + " has caught something");
            }
        } else if (!excused && category_of(one.id) != "perf" && base.offers_table_of(one.id)) {
            report.idle_cases.emplace_back(one.id);
        }
    }
    std::sort(report.idle_cases.begin(), report.idle_cases.end());
}

}  // namespace hal::conformance

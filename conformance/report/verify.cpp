#include "verify.hpp"

#include <algorithm>
#include <set>

#include "escape.hpp"
#include "folder.hpp"

namespace hal::conformance {
namespace {

void add(std::vector<Problem>& problems, Fault fault, std::string text) {
    problems.push_back({fault, std::move(text)});
}

// Whether every case that belongs to the run was planned: all of the catalogue unless some were left out on purpose.
void check_plan(std::vector<Problem>& problems, const Log& log, const Catalogue& catalogue) {
    const auto& planned = log.begin.planned;
    const std::set<std::string_view> ids(planned.begin(), planned.end());
    if (ids.size() != planned.size()) {
        add(problems, Fault::plan_wrong,
            "the plan of the log names " + std::to_string(planned.size() - ids.size()) + " ids twice");
    }
    for (const std::string& id : planned) {
        if (catalogue.find(id) == nullptr) {
            add(problems, Fault::plan_wrong,
                "the plan of the log names " + one_line(id) + ", which is no case of the catalogue");
        }
    }
    const bool figures = std::all_of(planned.begin(), planned.end(), [](const auto& id) { return is_figure(id); });
    if (log.begin.run.partial || figures) {
        return;
    }
    for (const Instance& instance : catalogue.instances) {
        if (!is_figure(instance.id) && !ids.contains(instance.id)) {
            add(problems, Fault::plan_wrong, "the log calls itself a whole run, and its plan lacks " + instance.id);
        }
    }
}

void check_applicability(std::vector<Problem>& problems, const TestEvent& event, const Instance& instance,
                         const Facts& facts) {
    const auto before = not_applicable(instance, facts);
    if (before && !event.attempts.empty()) {
        add(problems, Fault::applicability,
            event.id + " ran, and by the facts of the log it does not apply: " + before->reason);
    } else if (!before && event.attempts.empty() && (!event.not_run || event.not_run->verdict < Verdict::not_run)) {
        add(problems, Fault::applicability,
            event.id + " applies by the facts of the log, and it was not run: " +
                (event.not_run ? std::string(name(event.not_run->verdict)) : "no reason is given"));
    } else if (before && event.not_run && event.not_run->verdict != before->verdict) {
        add(problems, Fault::applicability,
            event.id + " is logged as " + std::string(name(event.not_run->verdict)) + ", and by the facts it is " +
                std::string(name(before->verdict)));
    }
}

void check_waivers(std::vector<Problem>& problems, const Evidence& evidence, const Model& model,
                   const Catalogue& catalogue, const std::string& today) {
    for (const std::string& fault : model.waiver_faults) {
        add(problems, Fault::waiver, "at the day of the run: " + fault);
    }
    if (model.waiver_faults.empty()) {
        for (const std::string& fault : waiver_faults(evidence.waivers, today, catalogue.ids())) {
            add(problems, Fault::waiver, "today: " + fault);
        }
    }
}

void check_model(std::vector<Problem>& problems, const std::filesystem::path& folder, const Log& log,
                 const Catalogue& catalogue, const std::string& today) {
    Evidence evidence;
    try {
        evidence = read_evidence(folder);
    } catch (const WaiverError& error) {
        add(problems, Fault::waiver, error.what());
    } catch (const LogError& error) {
        add(problems, Fault::selftest, error.what());
    }
    const Model model = build(log, catalogue, evidence);
    check_waivers(problems, evidence, model, catalogue, today);
    if (evidence.power && evidence.power->catalogue != log.begin.suite.catalogue) {
        add(problems, Fault::selftest,
            "the selftest was made with the catalogue " + one_line(evidence.power->catalogue, 12) + ", the run with " +
                one_line(log.begin.suite.catalogue, 12));
    }
    check_files(problems, folder, model);
}

// Not one that was interrupted, met a fault, or was told to stop at the first bad case: those say of themselves that
// they are incomplete.
bool ran_to_the_end(const Log& log) {
    const auto& words = log.begin.run.command;
    return log.end && !log.end->interrupted && !log.end->device_lost && log.end->failure.empty() &&
           std::find(words.begin(), words.end(), "--fail-fast") == words.end();
}

}  // namespace

void check_log(std::vector<Problem>& problems, const Log& log, const Catalogue& catalogue) {
    check_plan(problems, log, catalogue);
    std::map<std::string, size_t> seen;
    const std::set<std::string> planned(log.begin.planned.begin(), log.begin.planned.end());
    for (const TestEvent& event : log.tests) {
        if (++seen[event.id] == 2) {
            add(problems, Fault::test_twice, event.id + " is in the log more than once");
        }
        if (!planned.contains(event.id)) {
            add(problems, Fault::test_unknown, one_line(event.id) + " ran, and the plan does not name it");
        }
        const Instance* instance = catalogue.find(event.id);
        if (instance != nullptr && log.facts) {
            check_applicability(problems, event, *instance, log.facts->facts);
        }
    }
    if (ran_to_the_end(log)) {
        for (const std::string& id : planned) {
            if (!seen.contains(id)) {
                add(problems, Fault::test_missing,
                    id + " was planned, the run came to its end, and the log has no outcome");
            }
        }
    }
}

std::vector<Problem> verify(const std::filesystem::path& folder, const Catalogue& catalogue, const std::string& today) {
    std::vector<Problem> problems;
    Log log;
    try {
        log = read_log(folder / names::events);
    } catch (const LogError& error) {
        return {{Fault::log_damaged, error.what()}};
    }
    if (!log.end) {
        add(problems, Fault::log_unfinished, "the log has no end event: it was cut, or the run was killed");
    }
    check_sums(problems, folder);
    if (log.begin.suite.catalogue != catalogue.hash) {
        add(problems, Fault::other_catalogue,
            "the log was made with the catalogue " + one_line(log.begin.suite.catalogue, 12) + ", this program has " +
                catalogue.hash.substr(0, 12) + "; nothing more can be recomputed");
        return problems;
    }
    check_log(problems, log, catalogue);
    try {
        check_model(problems, folder, log, catalogue, today);
    } catch (const std::runtime_error& error) {  // an unknown profile, a time that is none
        add(problems, Fault::log_damaged, error.what());
    }
    return problems;
}

int exit_code(const std::vector<Problem>& problems) {
    int code = 0;
    for (const Problem& problem : problems) {
        const int own = static_cast<int>(problem.fault);
        code = code == 0 ? own : std::min(code, own);
    }
    return code;
}

}  // namespace hal::conformance

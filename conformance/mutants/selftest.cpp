#include "selftest.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "engine/judge.hpp"
#include "engine/plan.hpp"
#include "engine/run.hpp"
#include "harness/filter.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t usual_mib = 256;  // of each device

fs::path overlay_manifest(const SelftestOptions& options) {
    fs::path manifest = options.manifest;
    if (manifest.empty()) {
        manifest = fs::read_symlink("/proc/self/exe").parent_path() / HAL_MUTANTS_FROM_PROGRAM / "mutant.json";
    }
    if (!fs::exists(manifest)) {
        throw HarnessError("there are no mutants at " + manifest.string() + "; build or install the target hal_mutant");
    }
    return fs::canonical(manifest);
}

// The overlay's manifest for bases whose memory the host cannot reach.
constexpr std::string_view separate_overlay = "separate";

Job job_for(const fs::path& overlay, std::string_view library, const std::string& mutant, uint32_t mib = usual_mib) {
    Job job;
    job.manifest = library.empty() ? overlay : overlay.parent_path() / (std::string(library) + ".json");
    job.options = {"devices=2", "memory=" + std::to_string(mib) + "m"};
    if (library.empty() || library == separate_overlay) {
        job.options.push_back("mutant=" + mutant);
    }
    return job;
}

enum authority authority_of(const std::vector<Instance>& instances, const std::string& id) {
    const Instance* const found = find_instance(instances, id);
    if (found == nullptr) {
        throw HarnessError("the log names a case that is none: " + id);
    }
    return found->origin->authority;
}

// One of the alternatives of a message.
bool contains_any(std::string_view text, const std::vector<std::string_view>& message) {
    return std::any_of(message.begin(), message.end(),
                       [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

bool says(const Judgement& judgement, const std::vector<Attempt>& attempts,
          const std::vector<std::string_view>& message) {
    if (contains_any(judgement.reason, message)) {
        return true;
    }
    return std::any_of(attempts.begin(), attempts.end(), [&](const Attempt& attempt) {
        return contains_any(attempt.output, message) ||
               std::any_of(attempt.record.findings.begin(), attempt.record.findings.end(), [&](const Finding& finding) {
                   return contains_any(finding.what + ": expected " + finding.expected + ", got " + finding.got,
                                       message);
               });
    });
}

// ---- Named killers ----

class Judge {
  public:
    Judge(const Mutant& mutant, KillResult& result, const std::vector<Instance>& instances)
        : mutant_(mutant), message_(parts(mutant.message, '|')), result_(result), instances_(instances) {}

    void look(const JobResult& run) {
        if (run.exit == 3) {
            result_.verdict = not_loaded;
            result_.reason = run.errors.substr(0, run.errors.find('\n'));
            if (mutant_.verdict == not_loaded && contains_any(run.errors, message_)) {
                result_.killed = result_.rounds;
                result_.by.insert(result_.killer);  // it came not to run: the checker refused for its reason before
            }
            return;
        }
        if (!run.log) {
            result_.verdict = "NO_LOG";
            result_.reason = run.errors;
            return;
        }
        for (uint64_t round = 0; round < result_.rounds; ++round) {
            result_.killed += killed_in(*run.log, round) ? 1 : 0;
        }
    }

  private:
    // A case on quality accuses of nothing worse.
    [[nodiscard]] std::string_view expected_of(const std::string& id) const {
        return mutant_.verdict == name(Verdict::fail) && authority_of(instances_, id) == authority::Q
                   ? name(Verdict::quality)
                   : mutant_.verdict;
    }
    // By one of the killer's instances; what the others say is by-catch.
    bool killed_in(const Log& log, uint64_t round) {
        bool killed = false;
        std::string seen;
        std::string reason;
        for (const TestEvent& event : log.tests) {
            if (event.attempts.size() <= round) {
                continue;
            }
            const auto& attempts = event.attempts[round];
            const Judgement judgement = judge(authority_of(instances_, event.id), attempts);
            const bool expected = name(judgement.verdict) == expected_of(event.id);
            if (expected && says(judgement, attempts, message_)) {
                killed = true;
                result_.by.insert(event.id);
            }
            if (seen.empty() || expected) {
                seen = name(judgement.verdict);
                reason = judgement.reason;
            }
        }
        if (!killed || result_.verdict.empty()) {
            result_.verdict = seen.empty() ? "NOT_RUN" : seen;
            result_.reason = reason;
        }
        return killed;
    }

    const Mutant& mutant_;
    const std::vector<std::string_view> message_;  // its alternatives
    KillResult& result_;
    const std::vector<Instance>& instances_;
};

// ---- The whole ----

class Selftest {
  public:
    Selftest(const SelftestOptions& options, const std::function<void(const std::string&)>& tell)
        : options_(options),
          tell_(tell),
          overlay_(overlay_manifest(options)),
          instances_(all_instances()),
          jobs_(options.jobs != 0 ? options.jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {
    }

    SelftestReport run() {
        report_.catalogue = catalogue_hash();
        report_.seed = options_.seed;
        idle_names();
        named();
        if (!options_.mini) {
            generated();
        }
        oddities();
        if (!options_.mini && options_.only.empty()) {
            idle_cases();
        }
        return std::move(report_);
    }

  private:
    [[nodiscard]] bool chosen(std::string_view name) const {
        return options_.only.empty() || std::any_of(options_.only.begin(), options_.only.end(),
                                                    [&](const std::string& glob) { return matches(glob, name); });
    }
    [[nodiscard]] bool is_case(std::string_view killer) const {
        return std::any_of(instances_.begin(), instances_.end(), [&](const Instance& one) {
            return matches(killer, one.id) || matches(killer, one.origin->id);
        });
    }

    void named() {
        std::vector<const Mutant*> of;
        std::set<std::string_view> classes;
        for (const Mutant& mutant : all_mutants()) {
            const bool first = classes.insert(mutant.cls).second;
            if (!chosen(mutant.name) || (options_.mini && !first) || (mutant.separate && !separate_base())) {
                continue;
            }
            auto killers = parts(mutant.killers, ' ');
            killers.resize(std::min(killers.size(), options_.mini ? 1 : killers.size()));
            for (const std::string_view killer : killers) {
                if (!is_case(killer)) {
                    report_.faults.push_back(std::string(mutant.name) + ": no case " + std::string(killer));
                    continue;
                }
                of.push_back(&mutant);
                KillResult kill;
                kill.mutant = mutant.name;
                kill.killer = killer;
                kill.expected = std::string(mutant.verdict) + " that says \"" + std::string(mutant.message) + "\"";
                kill.rounds = options_.mini || mib_of(killer) > usual_mib ? 1 : options_.rounds;
                report_.kills.push_back(std::move(kill));
            }
        }
        run_beside_each_other(of.size(), jobs_, [&](size_t i) { kill(*of[i], report_.kills[i]); });
    }

    // Is there a device whose memory the host cannot reach? Asked once.
    bool separate_base() {
        if (!has_separate_) {
            Job job = job_for(overlay_, separate_overlay, "");
            job.arguments = {"--filter", "45079.X.abi.norm.descriptor", "--jobs", "1"};
            const JobResult result = fs::exists(job.manifest) ? run_job(job) : JobResult{};
            has_separate_ = result.exit == 0;
            if (!*has_separate_) {
                report_.left_out.push_back("separate.*: no back end with memory of its own: " +
                                           (result.errors.empty() ? job.manifest.string() + " is not installed"
                                                                  : result.errors.substr(0, result.errors.find('\n'))));
            }
        }
        return *has_separate_;
    }

    // What the killer needs of each device.
    [[nodiscard]] uint32_t mib_of(std::string_view killer) const {
        uint32_t most = 0;
        for (const Instance& one : instances_) {
            for (const Need& need : one.needs) {
                if (need.kind == Need::Kind::memory && (matches(killer, one.id) || matches(killer, one.origin->id))) {
                    most = std::max(most, need.value);
                }
            }
        }
        return std::max(usual_mib, most + most / 8);
    }

    void kill(const Mutant& mutant, KillResult& result) {
        const uint32_t mib = mib_of(result.killer);
        std::unique_lock alone(gigabytes_, std::defer_lock);
        if (mib > usual_mib) {
            alone.lock();  // two at once would need a larger machine
        }
        Job job = job_for(overlay_, mutant.separate ? separate_overlay : mutant.library, result.mutant, mib);
        job.arguments = {"--filter", result.killer, "--repeat", std::to_string(result.rounds),
                         "--seed",   seed(),        "--jobs",   "1"};
        if (mutant.verdict == name(Verdict::hang)) {  // the limit is what is waited for
            job.arguments.insert(job.arguments.end(), {"--timeout-mult", "0.2"});
        }
        Judge(mutant, result, instances_).look(run_job(job));
        told((result.good() ? "killed    " : "SURVIVES  ") + result.mutant + "  " + result.killer + "  " +
             result.verdict);
    }

    void generated() {
        for (const Operator& op : all_operators()) {
            for (const EntryInfo& entry : entries) {
                const std::string name = "gen." + std::string(op.name) + "." + std::string(entry.name);
                if (chosen(name) && is_case("*." + std::string(entry.name) + ".*") && offered(entry)) {
                    report_.generated.push_back(
                        {std::string(op.name), std::string(entry.name), {}, why_legal(op.name, entry)});
                }
            }
        }
        run_beside_each_other(report_.generated.size(), jobs_, [&](size_t i) { kill(report_.generated[i]); });
    }

    // By the base, as the overlay without a mutant says.
    bool offered(const EntryInfo& entry) {
        if (!facts_) {
            Job job = job_for(overlay_, "", "");
            job.arguments = {"--filter", "45079.X.abi.norm.descriptor", "--jobs", "1"};
            const JobResult result = run_job(job);
            if (!result.log || !result.log->facts) {
                throw HarnessError("the overlay without a mutant does not run: " + result.errors);
            }
            facts_ = result.log->facts->facts;
        }
        return facts_->present[static_cast<size_t>(&entry - entries.data())];
    }

    void kill(GeneratedResult& result) {
        const auto op = std::find_if(all_operators().begin(), all_operators().end(),
                                     [&](const Operator& one) { return one.name == result.op; });
        Job job = job_for(overlay_, "", "gen." + result.op + "." + result.entry);
        job.arguments = {"--filter", "*." + result.entry + ".*", "--seed", seed(), "--jobs", "1", "--few-ranks"};
        if (result.op == "absent") {
            job.arguments.insert(job.arguments.end(), {"--filter", "*.sig.*"});
        }
        if (op->first_only) {
            job.arguments.emplace_back("--fail-fast");
        }
        if (result.op == "hang") {
            job.arguments.insert(job.arguments.end(), {"--timeout-mult", "0.1"});
        }
        const JobResult run = run_job(job);
        if (run.exit == 3) {
            result.killers.emplace_back("load");
        }
        for (const TestEvent& event : run.log ? run.log->tests : std::vector<TestEvent>()) {
            if (bad(judgement_of(event, authority_of(instances_, event.id)).verdict)) {
                result.killers.push_back(event.id);
            }
        }
        told((!result.killers.empty() ? "killed    "
              : result.legal.empty()  ? "SURVIVES  "
                                      : "legal     ") +
             ("gen." + result.op + "." + result.entry));
    }

    void oddities() {
        std::vector<const Oddity*> list;
        static constexpr Oddity none{"none", "the overlay without a mutant", ""};
        list.push_back(&none);
        for (const Oddity& oddity : all_oddities()) {
            if (!options_.mini) {
                list.push_back(&oddity);
            }
        }
        std::erase_if(list, [&](const Oddity* oddity) { return !chosen(oddity->name); });
        report_.oddities.resize(list.size());
        for (size_t i = 0; i < list.size(); ++i) {  // one by one: many cases measure
            judge_oddity(*list[i], report_.oddities[i]);
        }
    }

    void judge_oddity(const Oddity& oddity, OddityResult& result) {
        result.name = oddity.name;
        Job job = job_for(overlay_, "", oddity.name == "none" ? "" : result.name);
        for (const std::string_view option : parts(oddity.options, ' ')) {
            job.options.emplace_back(option);
        }
        job.arguments = {"--seed", seed()};
        if (options_.mini) {
            job.arguments.insert(job.arguments.end(), {"--max-class", "fast", "--filter", "45079.T4.*"});
        }
        if (!options_.whole_suite) {
            job.arguments.emplace_back("--quick");
        }
        const JobResult run = run_job(job);
        if (!run.log || !run.log->end || run.log->tests.size() != run.log->begin.planned.size()) {
            result.accusations.push_back("the run did not end: " + run.errors);
        }
        for (const TestEvent& event : run.log ? run.log->tests : std::vector<TestEvent>()) {
            const Judgement judgement = judgement_of(event, authority_of(instances_, event.id));
            const std::string text = std::string(name(judgement.verdict)) + " " + event.id + ": " + judgement.reason;
            const bool absent = judgement.verdict == Verdict::blocked && event.not_run;
            if ((bad(judgement.verdict) && !absent) || judgement.verdict == Verdict::harness_error) {
                result.accusations.push_back(text);
            } else if (judgement.verdict == Verdict::quality) {
                result.qualities.push_back(text);
            }
        }
        told((result.accusations.empty() ? "unaccused " : "ACCUSED   ") + result.name);
    }

    // Every case must have caught something in this run, one of its instances at least, or have a reason not to.
    void idle_cases() {
        std::set<std::string_view> useful;
        const auto note = [&](std::string_view id) { useful.insert(id.substr(0, id.find('['))); };
        for (const KillResult& kill : report_.kills) {
            std::for_each(kill.by.begin(), kill.by.end(), note);
        }
        for (const GeneratedResult& generated : report_.generated) {
            std::for_each(generated.killers.begin(), generated.killers.end(), note);
        }
        for (const Case& one : all_cases()) {
            const bool excused = !why_idle(one.id).empty();
            if (useful.contains(one.id)) {
                if (excused) {
                    report_.faults.push_back("idle.def: " + std::string(one.id) + " has caught something");
                }
            } else if (!excused && category_of(one.id) != "perf" && has_table(one.id)) {
                report_.idle_cases.emplace_back(one.id);
            }
        }
        std::sort(report_.idle_cases.begin(), report_.idle_cases.end());
    }

    // The base offers something of the table that the case is about: where there is nothing no mutant can be wrong.
    bool has_table(std::string_view id) {
        const EntryInfo* const about = entry_of(id);
        return about == nullptr || std::any_of(entries.begin(), entries.end(), [&](const EntryInfo& entry) {
                   return entry.table == about->table && offered(entry);
               });
    }

    void idle_names() {
        for (const IdleCase& idle : all_idle()) {
            if (std::none_of(all_cases().begin(), all_cases().end(),
                             [&](const Case& one) { return one.id == idle.id; })) {
                report_.faults.push_back("idle.def: no case " + std::string(idle.id));
            }
        }
    }

    [[nodiscard]] std::string seed() const { return std::to_string(options_.seed); }

    void told(const std::string& text) {
        const std::lock_guard lock(mutex_);
        tell_(text);
    }

    const SelftestOptions& options_;
    const std::function<void(const std::string&)>& tell_;
    fs::path overlay_;
    std::vector<Instance> instances_;  // sorted by id
    int jobs_;
    SelftestReport report_;
    std::optional<Facts> facts_;
    std::optional<bool> has_separate_;
    std::mutex mutex_;
    std::mutex gigabytes_;
};

}  // namespace

SelftestReport run_selftest(const SelftestOptions& options, const std::function<void(const std::string&)>& tell) {
    return Selftest(options, tell).run();
}

}  // namespace hal::conformance

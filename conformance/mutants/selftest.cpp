#include "selftest.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>

#include "catalogue.hpp"
#include "engine/run.hpp"
#include "harness/filter.hpp"
#include "selftest_base.hpp"
#include "selftest_idle.hpp"
#include "selftest_judge.hpp"

namespace hal::conformance {
namespace {

class Selftest {
  public:
    Selftest(const SelftestOptions& options, const std::function<void(const std::string&)>& tell)
        : options_(options),
          tell_(tell),
          base_(options.manifest),
          instances_(all_instances()),
          jobs_(options.jobs != 0 ? options.jobs : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {
    }

    SelftestReport run() {
        report_.catalogue = catalogue_hash();
        report_.seed = options_.seed;
        note_unknown_idle_names(report_);
        named();
        if (!options_.mini) {
            generated();
        }
        oddities();
        if (!options_.mini && options_.only.empty()) {
            note_idle_cases(report_, base_);
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
            if (!chosen(mutant.name) || (options_.mini && !first) || (mutant.separate && leaves_out_separate())) {
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
                kill.rounds = options_.mini || mib_of(killer) > SelftestBase::usual_mib ? 1 : options_.rounds;
                report_.kills.push_back(std::move(kill));
            }
        }
        run_beside_each_other(of.size(), jobs_, [&](size_t i) { kill(*of[i], report_.kills[i]); });
    }

    bool leaves_out_separate() {
        const std::string& why = base_.why_none_separate();
        if (!why.empty() && report_.left_out.empty()) {
            report_.left_out.push_back("separate.*: no back end with memory of its own: " + why);
        }
        return !why.empty();
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
        return std::max(SelftestBase::usual_mib, most + most / 8);
    }

    void kill(const Mutant& mutant, KillResult& result) {
        const uint32_t mib = mib_of(result.killer);
        std::unique_lock alone(gigabytes_, std::defer_lock);
        if (mib > SelftestBase::usual_mib) {
            alone.lock();  // two at once would need a larger machine
        }
        Job job = base_.job(mutant, mib);
        job.arguments = {"--filter", result.killer, "--repeat", std::to_string(result.rounds),
                         "--seed",   seed(),        "--jobs",   "1"};
        if (mutant.verdict == name(Verdict::hang)) {  // the limit is what is waited for
            job.arguments.insert(job.arguments.end(), {"--timeout-mult", "0.2"});
        }
        judge_kill(mutant, run_job(job), instances_, result);
        told((result.good() ? "killed    " : "SURVIVES  ") + result.mutant + "  " + result.killer + "  " +
             result.verdict);
    }

    void generated() {
        for (const Operator& op : all_operators()) {
            for (const EntryInfo& entry : entries) {
                const std::string name = "gen." + std::string(op.name) + "." + std::string(entry.name);
                if (chosen(name) && is_case("*." + std::string(entry.name) + ".*") && base_.offers(entry)) {
                    report_.generated.push_back(
                        {std::string(op.name), std::string(entry.name), {}, why_legal(op.name, entry)});
                }
            }
        }
        run_beside_each_other(report_.generated.size(), jobs_, [&](size_t i) { kill(report_.generated[i]); });
    }

    void kill(GeneratedResult& result) {
        const auto op = std::find_if(all_operators().begin(), all_operators().end(),
                                     [&](const Operator& one) { return one.name == result.op; });
        Job job = base_.job("gen." + result.op + "." + result.entry);
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
        judge_generated(run_job(job), instances_, result);
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
            suspect(*list[i], report_.oddities[i]);
        }
    }

    void suspect(const Oddity& oddity, OddityResult& result) {
        result.name = oddity.name;
        Job job = base_.job(oddity.name == "none" ? "" : result.name);
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
        judge_oddity(run_job(job), instances_, result);
        told((result.accusations.empty() ? "unaccused " : "ACCUSED   ") + result.name);
    }

    [[nodiscard]] std::string seed() const { return std::to_string(options_.seed); }

    void told(const std::string& text) {
        const std::lock_guard lock(mutex_);
        tell_(text);
    }

    const SelftestOptions& options_;
    const std::function<void(const std::string&)>& tell_;
    SelftestBase base_;
    std::vector<Instance> instances_;  // sorted by id
    int jobs_;
    SelftestReport report_;
    std::mutex mutex_;
    std::mutex gigabytes_;
};

}  // namespace

SelftestReport run_selftest(const SelftestOptions& options, const std::function<void(const std::string&)>& tell) {
    return Selftest(options, tell).run();
}

}  // namespace hal::conformance

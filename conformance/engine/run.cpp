#include "run.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "digest.hpp"
#include "host_facts.hpp"
#include "in_process.hpp"
#include "launched.hpp"
#include "orphans.hpp"
#include "rank_group.hpp"
#include "worker_process.hpp"

namespace hal::conformance {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr size_t most_attempts = 3;  // of an inconclusive case

std::atomic<int> interrupts{0};

milliseconds limit_of(enum cls cls, double mult) {
    constexpr std::array<int, 3> seconds{10, 60, 300};
    return milliseconds(static_cast<int64_t>(1000.0 * mult * seconds[static_cast<size_t>(cls)]));
}

// "45079.T2.memory_copy_h2d.norm": an entry and a category.
std::string_view group_of(const Instance& instance) {
    return instance.origin->id.substr(0, instance.origin->id.rfind('.'));
}

// Each repetition has other data.
uint64_t seed_of(uint64_t seed, uint64_t round) {
    return round == 0 ? seed : mix(seed + round);
}

class Runner {
  public:
    Runner(const RunOptions& options, const Progress& progress, const Target& target, LogWriter& writer, Log& log,
           const Environment& clean)
        : clean_(clean), options_(options), progress_(progress), target_(target), writer_(writer), log_(log) {
        facts_ = log.facts->facts;
    }

    // Those that may run beside each other, then those that must run alone.
    void run_all(const std::vector<Instance>& instances) {
        const auto alone =
            std::find_if(instances.begin(), instances.end(), [](const Instance& one) { return one.origin->exclusive; });
        planned_ = instances.size();
        healthy_at_first_ = probe();
        run_part({instances.data(), static_cast<size_t>(alone - instances.begin())}, options_.jobs);
        run_part({instances.data() + (alone - instances.begin()), static_cast<size_t>(instances.end() - alone)}, 1);
    }
    [[nodiscard]] bool device_lost() const { return device_lost_; }
    [[nodiscard]] const std::string& failure() const { return failure_; }

  private:
    using Batch = std::span<const Instance>;

    void run_part(Batch instances, int jobs) {
        const std::vector<Batch> batches = batches_of(instances);
        std::atomic<size_t> next{0};
        const auto work = [&] {
            try {
                for (size_t i = 0; (i = next++) < batches.size() && !stopped();) {
                    run_batch(batches[i]);
                }
            } catch (const std::exception& error) {
                const std::lock_guard lock(mutex_);
                failure_ = failure_.empty() ? error.what() : failure_;
                stop_ = true;
            }
        };
        std::vector<std::thread> threads;
        for (int i = 1; i < jobs; ++i) {
            threads.emplace_back(work);
        }
        work();
        for (std::thread& thread : threads) {
            thread.join();
        }
    }

    // Cases that share a process.
    [[nodiscard]] std::vector<Batch> batches_of(Batch instances) const {
        std::vector<Batch> batches;
        for (size_t begin = 0; begin < instances.size();) {
            size_t end = begin + 1;
            while (options_.isolation == Isolation::interface && end < instances.size() &&
                   group_of(instances[end]) == group_of(instances[begin])) {
                ++end;
            }
            batches.push_back(instances.subspan(begin, end - begin));
            begin = end;
        }
        return batches;
    }

    void run_batch(Batch batch) {
        std::unique_ptr<WorkerProcess> kept;
        size_t last = 0;  // that applies: how the process ends belongs to it
        for (size_t i = 0; i < batch.size(); ++i) {
            last = not_applicable(batch[i], facts_) ? last : i;
        }
        for (size_t i = 0; i < batch.size() && !stopped(); ++i) {
            run_instance(batch[i], kept, i == last);
        }
    }

    void run_instance(const Instance& instance, std::unique_ptr<WorkerProcess>& kept, bool last) {
        TestEvent event;
        event.id = instance.id;
        event.seed = options_.seed;
        event.time = utc_now();
        const auto begin = Clock::now();
        event.not_run = not_applicable(instance, facts_);
        const auto share = milliseconds(options_.soak) * options_.jobs / static_cast<int64_t>(planned_);
        const auto again = [&](uint64_t round) { return round < options_.repeat || Clock::now() < begin + share; };
        for (uint64_t round = 0; !event.not_run && again(round) && !stopped(); ++round) {
            event.attempts.push_back(attempts(instance, seed_of(options_.seed, round), kept));
            if (options_.until_fail && bad(judge(instance.origin->authority, event.attempts.back()).verdict)) {
                break;
            }
        }
        if (kept && last && !event.attempts.empty()) {
            kept->end(event.attempts.back().back());
        }
        event.ms = static_cast<uint64_t>(std::chrono::duration_cast<milliseconds>(Clock::now() - begin).count());
        if (event.not_run || !event.attempts.empty()) {
            finish(event, instance);
        }
    }

    // Until one is conclusive.
    std::vector<Attempt> attempts(const Instance& instance, uint64_t seed, std::unique_ptr<WorkerProcess>& kept) {
        std::vector<Attempt> result;
        do {
            result.push_back(
                options_.launched != nullptr ? options_.launched->run(target_, job_for(instance, seed))
                : ranks_of(instance) != 0    ? run_ranks(target_, job_for(instance, seed), ranks_of(instance))
                : options_.isolation == Isolation::none
                    ? run_in_process(instance, target_, facts_, seed, Limits().times(options_.timeout_mult), clean_)
                    : attempt(instance, seed, kept));
        } while (result.size() < most_attempts && !result.back().record.inconclusive.empty() &&
                 result.back().ending.kind == Ending::Kind::end);
        return result;
    }

    [[nodiscard]] CaseJob job_for(const Instance& instance, uint64_t seed) const {
        return {instance.id,     seed,   options_.timeout_mult, limit_of(instance.origin->cls, options_.timeout_mult),
                options_.stacks, &facts_};
    }

    Attempt attempt(const Instance& instance, uint64_t seed, std::unique_ptr<WorkerProcess>& kept) {
        if (!kept || !kept->alive()) {
            kept = std::make_unique<WorkerProcess>(target_);
        }
        Attempt result = kept->run(job_for(instance, seed));
        if (options_.isolation == Isolation::test || !kept->alive()) {
            kept->end(result);
            kept.reset();
        }
        return result;
    }

    void finish(const TestEvent& event, const Instance& instance) {
        const Judgement judgement = judgement_of(event, instance.origin->authority);
        const bool died = judgement.verdict == Verdict::crash || judgement.verdict == Verdict::hang;
        // Twice: the first probe may meet what the dead worker has left to be cleaned up.
        const bool lost = died && healthy_at_first_ && options_.isolation != Isolation::none && !probe() && !probe();
        const std::lock_guard lock(mutex_);
        writer_.add(event);
        log_.tests.push_back(event);
        if (lost) {
            device_lost_ = true;
            stop_ = true;
        }
        if (options_.fail_fast && bad(judgement.verdict)) {
            stop_ = true;
        }
        if (progress_.tested) {
            progress_.tested(event, judgement, log_.tests.size(), planned_);
        }
    }

    bool probe() {
        if (options_.isolation == Isolation::none) {
            return true;
        }
        WorkerProcess worker(target_);
        return worker.probe(limit_of(cls::fast, options_.timeout_mult));
    }

    [[nodiscard]] bool stopped() const { return stop_ || interrupts != 0; }

    const Environment& clean_;  // for cases in this process
    const RunOptions& options_;
    const Progress& progress_;
    const Target& target_;
    LogWriter& writer_;
    Log& log_;
    Facts facts_;
    std::mutex mutex_;
    std::atomic<bool> stop_{false};
    bool healthy_at_first_ = false;
    bool device_lost_ = false;
    std::string failure_;
    size_t planned_ = 0;
};

BeginEvent begin_event(const RunOptions& options, const Target& target, const std::vector<Instance>& instances) {
    BeginEvent begin;
    begin.time = utc_now();
    begin.suite = {suite_version(), catalogue_hash(), suite_build()};
    begin.target = {target.id,
                    std::filesystem::absolute(target.manifest).lexically_normal().string(),
                    sha256_of_file(target.manifest),
                    target.library.string(),
                    sha256_of_file(target.library),
                    target.options};
    begin.host = host_facts();
    begin.run.command = options.command;
    begin.run.seed = options.seed;
    begin.run.shuffled = options.shuffled;
    begin.run.isolation = name(options.isolation);
    begin.run.timeout_mult = options.timeout_mult;
    begin.run.jobs = options.jobs;
    begin.run.repeat = options.repeat;
    begin.run.profile = options.profile;
    begin.run.partial = options.choice.partial();
    begin.run.shard = options.choice.shard;
    begin.run.shards = options.choice.shards;
    for (const Instance& instance : instances) {
        begin.planned.push_back(instance.id);
    }
    return begin;
}

// Beside each other where that only shares cores, one by one where it would share a device.
int jobs_for(const Facts& facts) {
    return (facts.device_flags & HAL_DEVICE_SOFTWARE) != 0
               ? std::max(1, static_cast<int>(std::thread::hardware_concurrency()))
               : 1;
}

// Those that want as many ranks as were started.
void keep_ranks(std::vector<Instance>& instances, size_t ranks) {
    std::erase_if(instances, [&](const Instance& one) { return ranks_of(one) != ranks; });
    if (instances.empty()) {
        throw NoMatch("no case that was chosen is for " + std::to_string(ranks) + " ranks");
    }
}

FactsEvent facts_of(const Target& target, const RunOptions& options) {
    if (options.isolation == Isolation::none) {
        const Introduction introduction = introduce(target);
        return {introduction.facts, introduction.identity};
    }
    WorkerProcess worker(target);
    return worker.introduce(limit_of(cls::medium, options.timeout_mult));
}

}  // namespace

std::string_view name(Isolation isolation) {
    static constexpr std::array<std::string_view, 3> names{"test", "interface", "none"};
    return names[static_cast<size_t>(isolation)];
}

Judgement judgement_of(const TestEvent& event, enum authority authority) {
    if (event.not_run) {
        return *event.not_run;
    }
    std::vector<Judgement> each;
    for (const auto& group : event.attempts) {
        each.push_back(judge(authority, group));
    }
    return repeated(each);
}

Log run(RunOptions options, const Progress& progress) {
    interrupts = 0;
    std::vector<Instance> instances = choose(options.choice);
    if (options.launched != nullptr) {
        keep_ranks(instances, options.launched->ranks());
        options.jobs = 1;
    }
    if (options.shuffled) {
        shuffle(instances, options.seed);
    }
    if (options.isolation == Isolation::interface) {
        std::stable_sort(instances.begin(), instances.end(), [](const Instance& a, const Instance& b) {
            return std::pair(a.origin->exclusive, group_of(a)) < std::pair(b.origin->exclusive, group_of(b));
        });
    }
    const Environment clean = Environment::now();
    Target target = read_target(options.manifest, options.options);
    if (options.isolation == Isolation::none) {
        open_target(target);
    }
    adopt_orphans();
    Log log;
    log.facts = facts_of(target, options);
    if (options.launched != nullptr) {
        log.facts->facts.most_ranks = static_cast<uint32_t>(options.launched->ranks());
    } else if (std::any_of(instances.begin(), instances.end(), [](const Instance& one) { return ranks_of(one) > 1; })) {
        log.facts->facts.most_ranks =
            observed_ranks(target, log.facts->facts, limit_of(cls::medium, options.timeout_mult));
    } else {
        log.facts->facts.most_ranks = 1;
    }
    options.jobs = options.isolation == Isolation::none ? 1
                   : options.jobs == 0                  ? jobs_for(log.facts->facts)
                                                        : options.jobs;
    log.begin = begin_event(options, target, instances);
    LogWriter writer(options.log);
    writer.add(log.begin);
    writer.add(*log.facts);
    if (progress.begun) {
        progress.begun(log.begin, *log.facts);
    }
    Runner runner(options, progress, target, writer, log, clean);
    runner.run_all(instances);
    kill_orphans();
    log.end = EndEvent{utc_now(), interrupts != 0, runner.device_lost(), runner.failure()};
    try {
        writer.add(*log.end);
    } catch (const LogError& error) {  // a full disk: what ran is still told
        log.end->failure = log.end->failure.empty() ? error.what() : log.end->failure;
    }
    return log;
}

void interrupt_run() {
    if (interrupts++ != 0) {
        _exit(130);
    }
}

}  // namespace hal::conformance

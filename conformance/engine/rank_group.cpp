#include "rank_group.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include "coordinator.hpp"

namespace hal::conformance {
namespace {

constexpr uint32_t any_number = 64;

// Each rank is listened to by a thread of its own. The processes are started by the caller's, whose end would be
// theirs.
class Group {
  public:
    Group(const Target& target, size_t ranks) : coordinator_(ranks) {
        for (size_t rank = 0; rank < ranks; ++rank) {
            workers_.push_back(std::make_unique<WorkerProcess>(target));
            workers_.back()->join(coordinator_, rank, ranks, static_cast<int>(rank));
        }
    }

    void each(const std::function<void(WorkerProcess&, size_t)>& work) {
        std::vector<std::thread> threads;
        std::vector<std::exception_ptr> errors(workers_.size());
        for (size_t rank = 0; rank < workers_.size(); ++rank) {
            threads.emplace_back([&, rank] {
                try {
                    work(*workers_[rank], rank);
                } catch (...) {
                    errors[rank] = std::current_exception();
                }
                coordinator_.gone(rank);
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        for (const std::exception_ptr& error : errors) {
            if (error) {
                std::rethrow_exception(error);
            }
        }
    }

    [[nodiscard]] WorkerProcess& worker(size_t rank) { return *workers_[rank]; }

  private:
    Coordinator coordinator_;
    std::vector<std::unique_ptr<WorkerProcess>> workers_;
};

// In the order of verdicts.
int badness(Ending::Kind kind) {
    switch (kind) {
        case Ending::Kind::end:
            return 0;
        case Ending::Kind::limit:
            return 1;
        case Ending::Kind::exited:
        case Ending::Kind::signalled:
            return 2;
        case Ending::Kind::refused:
            return 3;
    }
    return 3;
}

std::string last_seen(const Ending& ending) {
    const std::string at = ending.text.empty() ? "outside of all entries" : ending.text;
    switch (ending.kind) {
        case Ending::Kind::end:
            return "ended";
        case Ending::Kind::limit:
            return "still in " + at;
        case Ending::Kind::exited:
            return "left with status " + std::to_string(ending.code) + " in " + at;
        case Ending::Kind::signalled:
            return "died of signal " + std::to_string(ending.code) + " in " + at;
        case Ending::Kind::refused:
            return ending.text;
    }
    return "?";
}

// "rank 0: ended; rank 1: still in xccl_barrier".
std::string table_of(std::span<const Attempt> ranks) {
    std::string text;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        text += (rank == 0 ? "rank " : "; rank ") + std::to_string(rank) + ": " + last_seen(ranks[rank].ending);
    }
    return text;
}

std::string of_rank(size_t rank, const std::string& text) {
    return "rank " + std::to_string(rank) + ": " + text;
}

void add_record(Record& to, size_t rank, const Record& from) {
    constexpr size_t kept = 8;
    to.checks_ok += from.checks_ok;
    for (size_t i = 0; i < to.checks_bad.size(); ++i) {
        to.checks_bad[i] += from.checks_bad[i];
    }
    for (Finding finding : from.findings) {
        if (to.findings.size() < kept) {
            finding.what = of_rank(rank, finding.what);
            to.findings.push_back(std::move(finding));
        }
    }
    const auto keep_first = [&](std::string& into, const std::string& text) {
        if (into.empty() && !text.empty()) {
            into = of_rank(rank, text);
        }
    };
    keep_first(to.inconclusive, from.inconclusive);
    keep_first(to.harness_error, from.harness_error);
}

}  // namespace

size_t ranks_of(const Instance& instance) {
    const auto found = instance.params.find("ranks");
    size_t ranks = 0;
    if (found != instance.params.end()) {
        std::from_chars(found->second.data(), found->second.data() + found->second.size(), ranks);
    }
    return ranks;
}

Attempt merged(std::span<const Attempt> ranks) {
    Attempt whole;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const Attempt& one = ranks[rank];
        if (badness(one.ending.kind) > badness(whole.ending.kind)) {
            whole.ending.kind = one.ending.kind;
            whole.ending.code = one.ending.code;
        }
        if (!one.ending.stacks.empty()) {
            whole.ending.stacks += of_rank(rank, "\n" + one.ending.stacks + "\n");
        }
        add_record(whole.record, rank, one.record);
        whole.stdout_bytes += one.stdout_bytes;
        whole.stderr_bytes += one.stderr_bytes;
        whole.output += one.output;
        whole.children_left += one.children_left;
        whole.metrics.insert(whole.metrics.end(), one.metrics.begin(), one.metrics.end());
        for (const auto& [meter, value] : one.meters) {
            int64_t& most = whole.meters.try_emplace(meter, value).first->second;
            most = std::max(most, value);
        }
        whole.ms = std::max(whole.ms, one.ms);
    }
    if (whole.ending.kind != Ending::Kind::end) {
        whole.ending.text = table_of(ranks);
    }
    return whole;
}

Attempt run_ranks(const Target& target, const CaseJob& job, size_t ranks) {
    Group group(target, ranks);
    std::vector<Attempt> attempts(ranks);
    group.each([&](WorkerProcess& worker, size_t rank) { attempts[rank] = worker.run(job); });
    for (size_t rank = 0; rank < ranks; ++rank) {
        group.worker(rank).end(attempts[rank]);
    }
    return merged(attempts);
}

uint32_t observed_ranks(const Target& target, const Facts& facts, std::chrono::milliseconds limit) {
    const auto devices = static_cast<uint32_t>(std::max(facts.device_count, 0));
    if (!facts.has(E::xccl_comm_init_rank) || !facts.has(E::xccl_get_unique_id) ||
        !facts.has(E::xccl_get_unique_id_size) || !facts.has(E::xccl_destroy_comm)) {
        return 0;
    }
    Group group(target, 2);
    std::array<bool, 2> met{};
    group.each([&](WorkerProcess& worker, size_t rank) { met[rank] = worker.meet(limit); });
    return met[0] && met[1] ? std::max(devices, any_number) : devices;
}

}  // namespace hal::conformance

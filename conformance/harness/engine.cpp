#include "engine.hpp"

#include <exception>

namespace hal::conformance {
namespace {

constexpr int attempts = 3;

Outcome verdict_only(Verdict verdict, std::string reason) {
    Outcome outcome;
    outcome.verdict = verdict;
    outcome.reason = std::move(reason);
    return outcome;
}

}  // namespace

std::optional<Outcome> not_applicable(const Instance& instance, const Facts& facts) {
    const EntryInfo* own = entry_of(instance.origin->id);
    std::optional<std::string> first;
    for (const Need& need : instance.needs) {
        auto reason = unmet(need, facts);
        if (!reason) {
            continue;
        }
        // The absence of the entry itself is said before the absence of what else the case would use.
        if (need.kind == Need::Kind::entry && own != nullptr && entries[need.value].name == own->name) {
            return own->need == hal::Need::required ? verdict_only(Verdict::blocked, "the required entry is absent")
                                                    : verdict_only(Verdict::not_implemented, "the entry is absent");
        }
        if (!first) {
            first = std::move(reason);
        }
    }
    return first ? std::optional(verdict_only(Verdict::not_applicable, std::move(*first))) : std::nullopt;
}

Outcome run_case(const Instance& instance, const Target& target, const Facts& facts, uint64_t seed,
                 const Limits& limits) {
    Outcome outcome;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        Recorder recorder;
        try {
            Test test(target, instance, facts, seed, limits, recorder);
            instance.origin->body(test);
            test.clean_up();
        } catch (const std::exception& error) {
            return verdict_only(Verdict::harness_error, error.what());
        }
        outcome = recorder.outcome(instance.origin->authority == authority::Q);
        if (!recorder.is_inconclusive()) {
            break;
        }
    }
    return outcome;
}

Watchdog::Watchdog(std::function<void()> expired) : expired_(std::move(expired)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Watchdog::start(std::chrono::milliseconds limit) {
    {
        const std::lock_guard lock(mutex_);
        deadline_ = std::chrono::steady_clock::now() + limit;
    }
    changed_.notify_all();
}

void Watchdog::stop() {
    const std::lock_guard lock(mutex_);
    deadline_.reset();
}

void Watchdog::watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
        if (!deadline_) {
            changed_.wait(lock);
        } else if (changed_.wait_until(lock, *deadline_) == std::cv_status::timeout && deadline_ &&
                   std::chrono::steady_clock::now() >= *deadline_) {
            deadline_.reset();
            lock.unlock();
            expired_();
            lock.lock();
        }
    }
}

}  // namespace hal::conformance

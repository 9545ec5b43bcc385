#include "selftest_judge.hpp"

#include <algorithm>

#include "engine/judge.hpp"
#include "engine/run.hpp"

namespace hal::conformance {
namespace {

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

class KillJudge {
  public:
    KillJudge(const Mutant& mutant, KillResult& result, const std::vector<Instance>& instances)
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

}  // namespace

void judge_kill(const Mutant& mutant, const JobResult& run, const std::vector<Instance>& instances,
                KillResult& result) {
    KillJudge(mutant, result, instances).look(run);
}

void judge_generated(const JobResult& run, const std::vector<Instance>& instances, GeneratedResult& result) {
    if (run.exit == 3) {
        result.killers.emplace_back("load");
    }
    for (const TestEvent& event : run.log ? run.log->tests : std::vector<TestEvent>()) {
        if (bad(judgement_of(event, authority_of(instances, event.id)).verdict)) {
            result.killers.push_back(event.id);
        }
    }
}

void judge_oddity(const JobResult& run, const std::vector<Instance>& instances, OddityResult& result) {
    if (!run.log || !run.log->end || run.log->tests.size() != run.log->begin.planned.size()) {
        result.accusations.push_back("the run did not end: " + run.errors);
    }
    for (const TestEvent& event : run.log ? run.log->tests : std::vector<TestEvent>()) {
        const Judgement judgement = judgement_of(event, authority_of(instances, event.id));
        const std::string text = std::string(name(judgement.verdict)) + " " + event.id + ": " + judgement.reason;
        const bool absent = judgement.verdict == Verdict::blocked && event.not_run;
        if ((bad(judgement.verdict) && !absent) || judgement.verdict == Verdict::harness_error) {
            result.accusations.push_back(text);
        } else if (judgement.verdict == Verdict::quality) {
            result.qualities.push_back(text);
        }
    }
}

}  // namespace hal::conformance

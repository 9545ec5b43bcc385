// A whole run: ask the plug-in what it offers, start a worker for each case, log what was seen. Judges nothing beyond a
// case, prints nothing: that is for the reports.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "events.hpp"
#include "plan.hpp"

namespace hal::conformance {

enum class Isolation : uint8_t {
    test,       // a process for each case
    interface,  // one for the cases of an entry and a category; after a death the rest gets one each
    none,       // in this process, for a debugger: a plug-in that crashes ends the run
};
[[nodiscard]] std::string_view name(Isolation isolation);

class Launched;

struct RunOptions {
    std::vector<std::string> command;  // as it was typed, for the report
    std::filesystem::path manifest;
    Options options;
    Choice choice;
    std::string profile = "full";
    uint64_t seed = 0x5EED;
    bool shuffled = true;
    uint64_t repeat = 1;
    bool until_fail = false;       // a repeated case stops at its first bad run
    int jobs = 0;                  // 0: as many as there are cores where every device is software, else 1
    std::chrono::seconds soak{0};  // repeat cases until this much time is used, each its share
    Isolation isolation = Isolation::test;
    double timeout_mult = 1;
    bool fail_fast = false;
    bool stacks = true;
    std::filesystem::path log;     // events.jsonl; must not exist
    Launched* launched = nullptr;  // ranks from outside: only cases of so many ranks, one after the other
};

// What the caller may show while it goes on; called from the threads of the run, one at a time.
struct Progress {
    std::function<void(const BeginEvent&, const FactsEvent&)> begun;
    std::function<void(const TestEvent&, const Judgement&, size_t done, size_t planned)> tested;
};

// Throws LoadError (the plug-in cannot be used), NoMatch, LogError; everything else is in the log.
[[nodiscard]] Log run(RunOptions options, const Progress& progress);

// Of one id, from all its attempts.
[[nodiscard]] Judgement judgement_of(const TestEvent& event, enum authority authority);

// Ends a run after the cases that are running now, or at the second call at once. Safe in a signal handler.
void interrupt_run();

}  // namespace hal::conformance

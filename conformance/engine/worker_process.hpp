// A worker process as its parent asks it: for a case, for what the plug-in offers. Whatever the plug-in does in it, an
// Attempt comes out.
#pragma once

#include <chrono>
#include <optional>

#include "events.hpp"
#include "harness/target.hpp"
#include "process.hpp"

namespace hal::conformance {

class Coordinator;

struct CaseJob {
    std::string id;
    uint64_t seed = 0;
    double timeout_mult = 1;
    std::chrono::milliseconds limit{10'000};
    bool stacks = true;  // of a worker that hangs
    const Facts* facts = nullptr;
};

class WorkerProcess {
  public:
    // Starts the process; the plug-in is opened in it by the first thing that is asked.
    explicit WorkerProcess(const Target& target);

    // It is one of several that run a case together, on the device of this place; before it is asked anything.
    void join(Coordinator& coordinator, size_t rank, size_t ranks, int place);

    // Runs a case. The process may be asked again if `alive`.
    [[nodiscard]] Attempt run(const CaseJob& job);
    // What the plug-in offers. Throws LoadError with the reason, also if it crashes, hangs or leaves.
    [[nodiscard]] FactsEvent introduce(std::chrono::milliseconds limit);
    [[nodiscard]] bool probe(std::chrono::milliseconds limit);
    // Do the ranks that have joined make a communicator, all on device 0?
    [[nodiscard]] bool meet(std::chrono::milliseconds limit);

    [[nodiscard]] bool alive() const { return process_.alive(); }
    // Ends it and says how it went: a process that dies only now makes the attempt worse.
    void end(Attempt& last);

  private:
    struct Seen;

    // Reads messages and output until the answer `wanted` is there, the process is gone or the limit passes.
    Seen ask(const nlohmann::json& message, const char* wanted, std::chrono::milliseconds limit, bool stacks);
    bool take_message(Seen& seen, const char* wanted);
    bool take_word_of_rank(const nlohmann::json& message);
    void close_finished_pipes(short out_events, short err_events);
    [[nodiscard]] Attempt attempt_of(const Seen& seen) const;
    void note_traces(Attempt& attempt) const;
    Ending hung(bool stacks);

    Process process_;
    Coordinator* coordinator_ = nullptr;
    size_t rank_ = 0;
    size_t ranks_ = 0;
    int place_ = 0;      // which of the devices
    bool dies_ = false;  // by its own hand, as the case wants it
    std::optional<std::string> refused_;
};

}  // namespace hal::conformance

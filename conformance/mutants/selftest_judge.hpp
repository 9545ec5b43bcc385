// What a run of the checker against a mutant says about the checker.
#pragma once

#include "catalogue.hpp"
#include "engine/plan.hpp"
#include "jobs.hpp"
#include "selftest_report.hpp"

namespace hal::conformance {

// `instances` are those of all cases, sorted by id.

// Has the killer noticed what is wrong, in how many of the rounds, and what did it say?
void judge_kill(const Mutant& mutant, const JobResult& run, const std::vector<Instance>& instances, KillResult& result);

// The cases that noticed that something is wrong.
void judge_generated(const JobResult& run, const std::vector<Instance>& instances, GeneratedResult& result);

// The cases that accuse what is legal.
void judge_oddity(const JobResult& run, const std::vector<Instance>& instances, OddityResult& result);

}  // namespace hal::conformance

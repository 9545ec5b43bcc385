// A case that runs in several processes at once, one for each rank. One limit for all of them; what comes out is one
// attempt, as bad as the worst rank.
#pragma once

#include <span>

#include "worker_process.hpp"

namespace hal::conformance {

// How many ranks an instance wants, 0 if it is no case of ranks.
[[nodiscard]] size_t ranks_of(const Instance& instance);

[[nodiscard]] Attempt run_ranks(const Target& target, const CaseJob& job, size_t ranks);

// The ranks' attempts as one.
[[nodiscard]] Attempt merged(std::span<const Attempt> ranks);

// How many ranks there is place for: as many as the plug-in has devices, or any number where two processes were seen to
// meet on one device.
[[nodiscard]] uint32_t observed_ranks(const Target& target, const Facts& facts, std::chrono::milliseconds limit);

}  // namespace hal::conformance

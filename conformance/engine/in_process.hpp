// A case in the process that calls: in the worker, and in the parent with --isolation none.
#pragma once

#include "attempt.hpp"
#include "harness/environment.hpp"
#include "harness/test.hpp"

namespace hal::conformance {

// Against an instance of the plug-in of its own. What differs afterwards from the `clean` environment, in which the
// plug-in was not yet opened, is the plug-in's failure. `link` leads to the other ranks, if the case has any.
[[nodiscard]] Attempt run_in_process(const Instance& instance, const Target& target, const Facts& facts, uint64_t seed,
                                     const Limits& limits, const Environment& clean,
                                     std::function<void(const Finding&)> tell = {}, const RankLink* link = nullptr);

}  // namespace hal::conformance

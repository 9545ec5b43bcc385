// HAL_BACKENDS_SELECT, HAL_BACKENDS_DISABLE and HAL_BACKENDS_ORDER.
#pragma once

#include <vector>

#include "candidate.hpp"

namespace hal::loader {

// Patterns meet the id and the file name of the manifest. Gives what is excluded the state FILTERED, over any other
// than MASKED; marks what SELECT names without a wildcard as named; moves what ORDER names to the front. A pattern
// without a match is L004.
void apply_filters(const Environment& environment, std::vector<Candidate>& candidates, Log& log);

}  // namespace hal::loader

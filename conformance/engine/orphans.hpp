// Processes that plug-ins start and leave behind.
#pragma once

#include <cstdint>
#include <string>

namespace hal::conformance {

// They become children of this process, so that they can be found.
void adopt_orphans();

// A variable for the environment of one worker, which its descendants inherit whatever session they are in. Its name
// says nothing to a plug-in.
[[nodiscard]] std::string next_worker_mark();
// Ends the orphans of the worker that was started with this mark; how many there were.
uint64_t kill_descendants(const std::string& mark);

// Whatever is left at the end of a run.
void kill_orphans();

}  // namespace hal::conformance

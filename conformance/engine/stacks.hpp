// Where the threads of a process stand, for the report on one that hangs.
#pragma once

#include <sys/types.h>

#include <string>

namespace hal::conformance {

// Names and kernel wait channels of all threads, and what gdb shows of their frames if it is installed.
[[nodiscard]] std::string stacks_of(pid_t pid);

}  // namespace hal::conformance

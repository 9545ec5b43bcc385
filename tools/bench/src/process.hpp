// Child processes that are timed, and what they print.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hal::bench {

struct ChildResult {
    int64_t wall_ns = 0;  // from posix_spawn to the end of the child
    int exit_code = 0;    // 128 + signal if one ended it
    std::string output;   // both streams, with Output::capture
};

enum class Output { inherit, capture };

// Runs a program to its end. arguments[0] is searched in PATH if it has no slash. Throws std::system_error if it cannot
// start.
[[nodiscard]] ChildResult run_child(const std::vector<std::string>& arguments, Output output);

// The same, and throws std::runtime_error with the output unless the exit code is 0.
[[nodiscard]] ChildResult run_child_checked(const std::vector<std::string>& arguments, Output output);

}  // namespace hal::bench

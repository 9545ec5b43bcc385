// Child processes that are timed, and what they print.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "descriptor.hpp"

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

// A program that runs beside this one, with its output in a file. Ends with the object: it is asked with SIGTERM after
// `patience`, and killed a little later.
class Companion {
  public:
    Companion(const std::vector<std::string>& arguments, const std::filesystem::path& output,
              std::chrono::milliseconds patience);
    ~Companion();
    Companion(const Companion&) = delete;
    Companion& operator=(const Companion&) = delete;

    [[nodiscard]] bool running();
    // Ready to read once the program has ended, for poll.
    [[nodiscard]] int end() const { return end_.get(); }
    void stop_waiting() { patience_ = std::chrono::milliseconds(0); }

  private:
    [[nodiscard]] bool ends_within(std::chrono::milliseconds time);

    pid_t child_ = 0;  // 0 once it has ended
    Descriptor end_;
    std::chrono::milliseconds patience_;
};

}  // namespace hal::bench

// What hal-bench writes to a rank process and where; both ends of the pipes include this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "xccl/collective.hpp"

namespace hal::bench::xccl {

struct Command {
    Collective collective;
    uint64_t iterations = 1;
    uint64_t warm_up = 0;  // iterations before the ones that are timed
    bool wait_each = false;

    bool operator==(const Command&) const = default;
};

// One line without its end; parse_command throws std::invalid_argument.
[[nodiscard]] std::string text(const Command& command);
[[nodiscard]] Command parse_command(const std::string& line);

// Answers: "ready" once; then "took <nanoseconds> <wrong elements>" for each command. "unavailable <reason>" and
// "failed <reason>" are the last ones.
[[nodiscard]] std::filesystem::path command_pipe(const std::filesystem::path& team, int rank);
[[nodiscard]] std::filesystem::path answer_pipe(const std::filesystem::path& team, int rank);

}  // namespace hal::bench::xccl

// Other processes of a case: this program again, with a hidden command. Never fork: a driver does not survive it.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "target.hpp"

namespace hal::conformance {

class Backend;

// What a child process does with an instance of the plug-in of its own, initialised. Empty, or what went wrong.
using ChildRole = std::string (*)(const Backend& backend, const std::vector<std::string>& arguments);

struct ChildRegistration {
    ChildRegistration(const char* name, ChildRole role);
};

// Runs the role in a new process and waits for it, killing it after the limit. Empty, or what went wrong.
[[nodiscard]] std::string run_child(const Target& target, const std::string& role,
                                    const std::vector<std::string>& arguments, std::chrono::milliseconds limit);

// The other side: the process' exit status.
[[nodiscard]] int child_main(const Target& target, const std::string& role, const std::vector<std::string>& arguments);

}  // namespace hal::conformance

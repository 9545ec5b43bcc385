// hal-conformance list
#pragma once

#include "choice.hpp"

namespace hal::conformance {

struct ListCommand {
    Choice choice;
    bool json = false;
};

void add_list(CLI::App& app, ListCommand& command);
[[nodiscard]] int list_command(const ListCommand& command);

// "memory_copy_h2d", "2 devices", "a gate": what a case asks of the plug-in.
[[nodiscard]] std::string text_of(const Need& need);

}  // namespace hal::conformance

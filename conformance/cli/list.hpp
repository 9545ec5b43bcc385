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

}  // namespace hal::conformance

// The words that choose cases, the same for `run` and `list`.
#pragma once

#include <CLI/CLI.hpp>

#include "engine/plan.hpp"

namespace hal::conformance {

// Fills `choice` while the command line is parsed.
void add_choice(CLI::App& app, Choice& choice);

}  // namespace hal::conformance

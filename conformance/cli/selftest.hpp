// hal-conformance selftest
#pragma once

#include <CLI/CLI.hpp>

#include "mutants/selftest.hpp"

namespace hal::conformance {

struct SelftestCommand {
    SelftestOptions options;
    std::string out;  // file for the JSON
    bool list = false;
    bool verbose = false;
};

void add_selftest(CLI::App& app, SelftestCommand& command);
// The exit status of the process.
[[nodiscard]] int selftest_command(const SelftestCommand& command);

}  // namespace hal::conformance

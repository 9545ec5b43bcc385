// hal-conformance run
#pragma once

#include <CLI/CLI.hpp>

#include "choice.hpp"
#include "engine/run.hpp"
#include "reports.hpp"

namespace hal::conformance {

struct RunCommand {
    RunOptions options;
    std::vector<std::string> plugin_options;  // key=value
    std::string out;
    std::string isolation = "test";
    bool no_shuffle = false;
    bool no_stacks = false;
    std::string rerun_failed;
    bool certify = false;
    bool gdb = false;
    bool core = false;
    bool dry_run = false;
    bool verbose = false;
    bool quiet = false;
    RunReport report;
};

void add_run(CLI::App& app, RunCommand& command);
// The exit status of the process.
[[nodiscard]] int run_command(RunCommand& command, int argc, char** argv);

// "key=value" words as the plug-in's options.
[[nodiscard]] Options option_map(const std::vector<std::string>& words);

enum Exit {
    exit_good = 0,
    exit_bad = 1,
    exit_usage = 2,
    exit_not_loaded = 3,
    exit_nothing_ran = 4,
    exit_device_lost = 5,
    exit_harness = 6,
    exit_interrupted = 130
};

}  // namespace hal::conformance

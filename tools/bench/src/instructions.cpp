#include "instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

#include "benchmark.hpp"
#include "dispatch_loops.hpp"
#include "paths.hpp"
#include "process.hpp"

namespace hal::bench {
namespace {

// "==123== Collected : 4567" is callgrind's total.
uint64_t collected(const std::string& output) {
    constexpr std::string_view label = "Collected :";
    const size_t place = output.find(label);
    if (place == std::string::npos) {
        throw std::runtime_error("callgrind printed no total: " + output);
    }
    return std::stoull(output.substr(place + label.size()));
}

uint64_t count_run(std::string_view path, uint64_t calls) {
    try {
        return collected(
            run_child_checked({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", executable().string(),
                               counted_path_option, fmt::format("{}:{}", path, calls)},
                              Output::capture)
                .output);
    } catch (const std::system_error& missing) {
        throw Unavailable(fmt::format("valgrind cannot be started: {}", missing.what()));
    }
}

}  // namespace

double instructions_per_call(std::string_view path) {
    constexpr uint64_t calls = 1'000'000;
    // The start of the program costs the same in both runs but for a few instructions (addresses, hashes).
    return static_cast<double>(count_run(path, 2 * calls) - count_run(path, calls)) / calls;
}

void run_counted_path(std::string_view path, unsigned long count) {
    const auto paths = dispatch_paths();
    const auto found = std::find_if(paths.begin(), paths.end(), [&](const Path& p) { return p.name == path; });
    if (found == paths.end()) {
        throw std::invalid_argument(fmt::format("no dispatch path {}", path));
    }
    const NullBackend backend;
    found->loop(backend, count);
}

}  // namespace hal::bench

// One run of the checker as a process of its own, as a vendor starts it, and what its log says.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/events.hpp"

namespace hal::conformance {

struct Job {
    std::filesystem::path manifest;
    std::vector<std::string> options;    // key=value of the back end
    std::vector<std::string> arguments;  // of `run`
};

struct JobResult {
    int exit = -1;           // -1: it was killed, by a signal or after the limit
    std::string errors;      // standard error, the first part
    std::optional<Log> log;  // nothing if it did not get so far
};

[[nodiscard]] JobResult run_job(const Job& job);

// Runs work(0) .. work(count - 1), so many at once.
void run_beside_each_other(size_t count, int jobs, const std::function<void(size_t)>& work);

}  // namespace hal::conformance

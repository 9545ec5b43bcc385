// A case that several processes run together, each of them a rank. What the ranks have to say to each other goes over
// the pipes of their parent, never through the collectives that are under test.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "recorder.hpp"

namespace hal::conformance {

// One rank's end of that.
struct RankLink {
    int rank = 0;
    int ranks = 1;
    int place = 0;  // on this host: which of the devices, counted round
    // What every rank has said, by rank, once all that still run have called it. A rank that is gone has said "".
    std::function<std::vector<std::string>(const std::string& bytes)> exchange;
    // The whole process stands still for so long.
    std::function<void(std::chrono::milliseconds)> stop;
    // The process ends here by SIGKILL, which belongs to the case.
    std::function<void(const Record& so_far)> die;
};

}  // namespace hal::conformance

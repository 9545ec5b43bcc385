// What the parent saw of one run of a case in a worker process: facts, no verdict. The verdict is computed from them
// (judge.hpp) when the run prints it and again by `verify`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/recorder.hpp"

namespace hal::conformance {

// How the worker left the case.
struct Ending {
    enum class Kind : uint8_t {
        end,        // it said so, with everything counted
        exited,     // left with status `code` before that: a plug-in called exit
        signalled,  // died of signal `code`
        limit,      // was killed after the limit of the case's class
        refused,    // could not be started or did not speak: the suite's own fault, see `text`
    };
    Kind kind = Kind::end;
    int code = 0;
    std::string text;    // the entries that were being called then, one per thread; or what went wrong
    std::string stacks;  // of a worker that was killed after the limit, as far as the system tells
};

struct Attempt {
    Ending ending;
    Record record;
    uint64_t stdout_bytes = 0;  // written by the plug-in; the suite's own code writes none in a worker
    uint64_t stderr_bytes = 0;
    std::string output;          // first and last part of both
    uint64_t children_left = 0;  // processes that the plug-in started and that outlived the worker
    std::vector<Metric> metrics;
    std::map<std::string, int64_t> meters;  // after minus before: threads, fds, maps, rss_kib, device0_bytes ...
    uint64_t ms = 0;
};

}  // namespace hal::conformance

// Running one collective among the ranks of a host. Every rank writes what it brings into its slot and waits until all
// have: small data lie in the slot itself, and all is done then; large data stay where they are, each rank works on
// them in the others' memory, and waits once more until all have done so.
#pragma once

#include <functional>

#include "host.hpp"
#include "operation.hpp"

namespace hal::xccl {

// Of one rank; equal on all while nothing runs.
struct Counters {
    uint64_t sequence = 0;        // collectives so far
    uint64_t step = setup_steps;  // of them
};

// idle() is called while the rank waits. Throws what Host::wait throws, and INVALID_ARGUMENT on every rank if they do
// not call the same collective.
void run_collective(const Host& host, const Operation& operation, Counters& counters,
                    const std::function<bool()>& idle);

// The pieces that one across hosts is made of. Until all ranks have come with the same call:
void agree(const Host& host, const Call& call, Counters& counters, const std::function<bool()>& idle);
// Until all ranks have come here:
void next_step(const Host& host, Counters& counters, const std::function<bool()>& idle);

}  // namespace hal::xccl

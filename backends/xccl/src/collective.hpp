// Running one collective among the ranks of a host. Every rank writes what it brings into its slot and waits until all
// have: small data lie in the slot itself, and all is done then; large data stay where they are, each rank works on
// them in the others' memory, and waits once more until all have done so.
#pragma once

#include <functional>

#include "host.hpp"
#include "operation.hpp"

namespace hal::xccl {

// `sequence` counts the collectives of the communicator from 1; `step` is the rank's progress, kept by the caller.
// idle() is called while the rank waits. Throws what Host::wait throws, and INVALID_ARGUMENT on every rank if they do
// not call the same collective.
void run_collective(const Host& host, const Operation& operation, uint64_t sequence, uint64_t& step,
                    const std::function<bool()>& idle);

}  // namespace hal::xccl

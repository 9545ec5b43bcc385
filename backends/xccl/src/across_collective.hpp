// Running one collective among ranks on several hosts: what a host's ranks bring is put together in the memory that
// they share, the leaders of the hosts exchange it over the network, and every rank takes its part from there. Where
// each host has one rank the network works on the ranks' own memory.
#pragma once

#include <functional>

#include "across.hpp"
#include "collective.hpp"

namespace hal::xccl {

// As run_collective(), with ranks of the communicator.
void run_across(Across& across, const Operation& operation, Counters& counters, const std::function<bool()>& idle);

}  // namespace hal::xccl

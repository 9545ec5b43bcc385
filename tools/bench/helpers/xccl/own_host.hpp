// Ranks that run as if on two hosts: network namespaces with a pair of virtual devices between them. They belong to the
// processes, so nothing is left of them, however those end.
#pragma once

#include <string>

#include "rank.hpp"

namespace hal::bench::xccl {

// Moves this process to the host of its rank, before it has another thread; the first half of the ranks is on the
// first. Returns the address of the host: loopback if the team has one. Throws Unavailable without the right to do so.
[[nodiscard]] std::string enter_host(const RankArguments& arguments);

}  // namespace hal::bench::xccl

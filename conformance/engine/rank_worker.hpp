// A worker that is one of several ranks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "channel.hpp"
#include "harness/ranks.hpp"
#include "harness/target.hpp"

namespace hal::conformance {

// As the job says; of no ranks if it says nothing. The channel outlives the link.
[[nodiscard]] RankLink link_of(const Channel& channel, const nlohmann::json& job);

// Makes a communicator with the other ranks, all on device 0: is there place for several on one device?
[[nodiscard]] bool meets(const Target& target, const RankLink& link);

}  // namespace hal::conformance

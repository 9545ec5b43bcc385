// Joins the logs of shards to the log of a whole run.
#pragma once

#include <vector>

#include "engine/events.hpp"

namespace hal::conformance {

// Throws LogError unless all shards are there, once each, finished, and of one plug-in, catalogue, seed and profile.
// `names` are for messages.
[[nodiscard]] Log merged(const std::vector<Log>& shards, const std::vector<std::string>& names);

}  // namespace hal::conformance

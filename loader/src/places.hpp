// The list of places of the search, before anything touches the disk.
#pragma once

#include <string>
#include <vector>

#include "environment.hpp"
#include "search.hpp"

namespace hal::loader {

// A place with what decides how its content is treated. Dropped ones have a note and complaint_level.
struct Spot {
    Place place;
    bool named = false;
    bool system = false;
    bool dropped = false;
    uint32_t complaint_level = 0;  // HAL_LOG_* of the line about a dropped one
};

// Ranks 1 to 9 in their order.
std::vector<Spot> list_spots(const Environment& environment, const Settings& settings, const Roots& roots);

}  // namespace hal::loader

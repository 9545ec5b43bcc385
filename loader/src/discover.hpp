// discover() of candidate.hpp with directories other than the installed ones, for tests.
#pragma once

#include "candidate.hpp"
#include "real_paths.hpp"
#include "search.hpp"

namespace hal::loader {

Scan discover(const Environment& environment, const Settings& settings, Log& log, const Roots& roots);

// The absolute path that a manifest's library_path means; follows the links of the manifest's own path. Need not exist.
// Throws FileError if the manifest has gone.
std::string locate_library(const std::string& manifest_path, const std::string& library_path, RealPaths& real_paths);

}  // namespace hal::loader

// Where manifests are looked for, which of them hide others, and in what order they come.
#pragma once

#include <string>
#include <vector>

#include "candidate.hpp"

namespace hal::loader {

// The directories that are compiled in. Tests put `root` before those of the system, so that this machine's files do
// not matter.
struct Roots {
    std::string root;
    std::string sysconfdir;
    std::string datadir;
};
Roots installed_roots();

struct FoundManifest {
    std::string path;
    int rank;
    bool named;             // by the user, in a variable or through the API
    bool system;            // in a directory that only the administrator writes to
    std::string masked_by;  // path of what hides it
};

struct SearchResult {
    std::vector<Place> places;
    std::vector<FoundManifest> files;  // in their final order, hidden ones included
};

// What is odd about places goes to the log. Reads no manifest. Throws only std::bad_alloc.
SearchResult search(const Environment& environment, const Settings& settings, Log& log, const Roots& roots);

std::string base_name(const std::string& path);

}  // namespace hal::loader

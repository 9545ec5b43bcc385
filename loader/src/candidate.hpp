// One back end that the scan found: what its manifest says, where its library is, and what is wrong with it, if
// anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace hal::loader {

enum class Probe : uint8_t { automatic, always, never_in_helper };

// The typed content of a manifest (schemas/backend-1.json); what the file leaves out has these defaults.
struct Manifest {
    std::string id;
    std::string name;
    std::string vendor;
    std::string version;
    std::string library_path;  // as written
    std::string arch;
    std::vector<std::string> kinds;
    std::vector<std::string> required_files;
    std::string hint;
    std::vector<std::pair<std::string, std::string>> options;
    uint32_t abi_min = HAL_ABI_VERSION;  // HAL_MAKE_VERSION
    uint32_t abi_max = HAL_ABI_VERSION;
    uint32_t priority = 500;
    Probe probe = Probe::automatic;
    bool software = false;
    bool critical = false;
};

struct Candidate {
    Manifest manifest;
    std::string manifest_path;             // empty for an entry of the application
    std::string library_path;              // absolute and resolved; empty for an entry of the application
    hal_backend_entry_fn entry = nullptr;  // of the application
    int rank = -1;                         // of the place that it was found in
    bool named = false;                    // the user named it: what is wrong with it is an ERROR, not a WARN
    std::optional<Problem> problem;        // of the scan; none means DISCOVERED
};

// A directory or file that was looked at.
struct Place {
    std::string path;
    std::string origin;  // the variable or rule that gave it
    std::string note;    // why it was dropped, or how many manifests it gave
    int rank = -1;
    bool used = false;
};

struct Scan {
    std::vector<Place> places;
    std::vector<Candidate> candidates;  // in their final order, refused ones included
};

// hal_loader_desc, copied.
struct Settings {
    std::vector<std::string> manifest_paths;
    std::vector<hal_backend_entry_fn> entries;
    std::vector<std::string>
        entry_ids;  // what the descriptors of `entries` call themselves; without it no filter sees them
    struct Option {
        std::string backend;
        std::string key;
        std::string value;
    };
    std::vector<Option> options;
    hal_log_fn log = nullptr;
    void* log_user_data = nullptr;
    uint32_t flags = 0;
};

class Environment;
class Log;

// Searches, reads manifests, filters, sorts. Opens no library. Throws only std::bad_alloc.
Scan discover(const Environment& environment, const Settings& settings, Log& log);

}  // namespace hal::loader

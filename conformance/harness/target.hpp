// The plug-in under test: found through its manifest, opened by its own entry symbol, without the loader in between.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include "hal/plugin.h"

namespace hal::conformance {

// The manifest or the library cannot be used; the text says what, where and what to do.
class LoadError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

using Options = std::map<std::string, std::string>;

struct Target {
    std::string id;  // backend.id of the manifest
    std::filesystem::path manifest;
    std::filesystem::path library;
    Options options;                               // of the manifest, with those of the command line over them
    std::set<std::string, std::less<>> behaviour;  // /backend/claims/behaviour
    // /backend/claims/entries; without it the tables are the claim.
    std::optional<std::set<std::string, std::less<>>> entries;
    std::set<std::string, std::less<>> routes;  // /backend/claims/routes: op, graph, compiler
    hal_backend_entry_fn entry = nullptr;
};

// Reads the manifest; `entry` stays nullptr. Throws LoadError.
[[nodiscard]] Target read_target(const std::filesystem::path& manifest, const Options& options);
// Opens the library, which then stays mapped until the process ends. Throws LoadError.
void open_target(Target& target);
// Both.
[[nodiscard]] Target load_target(const std::filesystem::path& manifest, const Options& options);

}  // namespace hal::conformance

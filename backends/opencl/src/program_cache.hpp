// Built programs on disk, one file each, so that only the first process pays for the compiler. A file is found by a
// hash of what it depends on, and is used only if that text, the length and the checksum in it are right and nobody but
// this user can have written it.
#pragma once

#include <string>

namespace hal::opencl {

class ProgramCache {
  public:
    // `option` is a folder, "off", or empty for $XDG_CACHE_HOME/hal/opencl (~/.cache/hal/opencl). No folder is made
    // yet. A process with elevated privileges keeps nothing.
    explicit ProgramCache(const std::string& option);

    // Empty if there is none that may be used.
    [[nodiscard]] std::string read(const std::string& key) const;
    // Says in words where it was kept, or why not: a full disk must not stop a launch. Several processes may write the
    // same file; a reader sees one of them whole.
    [[nodiscard]] std::string write(const std::string& key, const std::string& binary) const;

  private:
    [[nodiscard]] std::string path_of(const std::string& key) const;

    std::string folder_;  // empty: off
};

}  // namespace hal::opencl

// realpath() for many files of few directories: it asks the system about every component, which for a hundred manifests
// and their libraries took a third of the scan.
#pragma once

#include <map>
#include <string>

namespace hal::loader {

// Remembers directories, so one object is good for one scan.
class RealPaths {
  public:
    // Of an absolute path. Empty, and errno set, if it does not exist.
    std::string resolve(const std::string& path);

  private:
    std::map<std::string, std::string> directories_;
};

}  // namespace hal::loader

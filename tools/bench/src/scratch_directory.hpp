// A place for files that nobody keeps.
#pragma once

#include <filesystem>

namespace hal::bench {

// A directory for temporary files that is removed with the object at the latest.
class ScratchDirectory {
  public:
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    void remove();

  private:
    std::filesystem::path path_;
};

}  // namespace hal::bench

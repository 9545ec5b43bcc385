// A folder of our own in the system's place for temporary files, which goes away with the object.
#pragma once

#include <filesystem>
#include <string>

namespace hal::conformance {

class TempFolder {
  public:
    // `purpose` is part of its name. Throws HarnessError if there can be none.
    explicit TempFolder(const std::string& purpose);
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace hal::conformance

#include "temp_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/api.hpp"

namespace hal::conformance {

TempFolder::TempFolder(const std::string& purpose) {
    std::string name = (std::filesystem::temp_directory_path() / ("hal-" + purpose + "-XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) {
        throw HarnessError("cannot create a folder " + name + ": " + std::strerror(errno));
    }
    path_ = name;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace hal::conformance

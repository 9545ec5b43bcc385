#include "scratch_directory.hpp"

#include <stdlib.h>

#include <cerrno>
#include <system_error>

namespace hal::bench {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory() {
    std::string made = (fs::temp_directory_path() / "hal-bench-XXXXXX").string();
    if (mkdtemp(made.data()) == nullptr) {
        throw std::system_error(errno, std::generic_category(), made);
    }
    path_ = made;
}

ScratchDirectory::~ScratchDirectory() {
    remove();
}

void ScratchDirectory::remove() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

}  // namespace hal::bench

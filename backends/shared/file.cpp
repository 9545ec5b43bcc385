#include "file.hpp"

#include <unistd.h>

namespace hal::shared {

File::~File() {
    if (file_ >= 0) {
        close(file_);
    }
}

}  // namespace hal::shared

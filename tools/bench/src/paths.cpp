#include "paths.hpp"

namespace hal::bench {

std::filesystem::path executable() {
    return std::filesystem::read_symlink("/proc/self/exe");
}

// The build gives the relative path, because <libdir> has a name of its own on some systems.
std::filesystem::path parts_directory() {
    return (executable().parent_path() / HAL_BENCH_PARTS_FROM_BIN).lexically_normal();
}

}  // namespace hal::bench

// Where the parts of the benchmark lie: beside each other, in the build tree as in the install tree.
#pragma once

#include <filesystem>

namespace hal::bench {

// This program.
[[nodiscard]] std::filesystem::path executable();

// <libdir>/hal-bench: the back end that does nothing, its manifest and the small programs that are started and timed.
[[nodiscard]] std::filesystem::path parts_directory();

}  // namespace hal::bench

// Instructions a call under valgrind's callgrind: free of noise, so that one instruction more is seen.
#pragma once

#include <string_view>

namespace hal::bench {

// Runs this program again under valgrind, for the difference of two call counts. Throws Unavailable without valgrind.
[[nodiscard]] double instructions_per_call(std::string_view path);

// What such a run does: count calls on a path of dispatch_paths(). Throws std::invalid_argument for an unknown name.
void run_counted_path(std::string_view path, unsigned long count);

// The hidden option of the command line that asks for it: PATH:COUNT.
inline constexpr const char* counted_path_option = "--counted-path";

}  // namespace hal::bench

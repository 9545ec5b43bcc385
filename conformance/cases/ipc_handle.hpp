// A handle as an argument of a child process.
#pragma once

#include <string>

#include "harness/test.hpp"

namespace hal::conformance {

[[nodiscard]] std::string hex(const hal_ipc_handle& handle);
[[nodiscard]] hal_ipc_handle unhex(const std::string& text);

}  // namespace hal::conformance

// Where a run took place, for the report.
#pragma once

#include <map>
#include <string>

namespace hal::conformance {

// System, kernel, processor, cores, memory, C library, locale and the variables HAL_* and *_VISIBLE_DEVICES: never the
// whole environment.
[[nodiscard]] std::map<std::string, std::string> host_facts();

[[nodiscard]] std::string suite_version();
// Compiler and sanitizers of this program.
[[nodiscard]] std::string suite_build();

}  // namespace hal::conformance

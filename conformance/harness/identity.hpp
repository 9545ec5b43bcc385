// Who the plug-in says it is, for the report; judged by cases, not here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backend.hpp"

namespace hal::conformance {

[[nodiscard]] Identity identify(const Backend& backend, int32_t device_count);

}  // namespace hal::conformance

// The all-reduces of two ranks as a picture.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace hal::bench::xccl {

// SVG: the bus rate over the size, a line for each library. Throws std::runtime_error if none was measured.
[[nodiscard]] std::string to_svg(const std::vector<Row>& rows);

}  // namespace hal::bench::xccl

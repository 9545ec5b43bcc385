// The rows as JSON of schemas/bench-1.json.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace hal::bench {

// What the figures were measured with.
struct RunInfo {
    std::string backend;          // id
    std::string backend_version;  // empty if it was not opened
    Settings settings;
};

[[nodiscard]] std::string to_json(const std::vector<Row>& rows, const RunInfo& info);

}  // namespace hal::bench

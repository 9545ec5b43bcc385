// report.json (schemas/conformance-1.json), and what the templates of the other formats are filled with.
#pragma once

#include <nlohmann/json.hpp>

#include "model.hpp"

namespace hal::conformance {

[[nodiscard]] nlohmann::json report_json(const Model& model);
// The bytes of report.json.
[[nodiscard]] std::string json_text(const Model& model);

}  // namespace hal::conformance

// Figures that cases measured: a curve where a parameter is a number, else a line in a table.
#pragma once

#include <nlohmann/json.hpp>

#include "model.hpp"

namespace hal::conformance {

// {curves: [{name, unit, svg}], figures: [{id, name, value, unit}], any}
[[nodiscard]] nlohmann::json metrics_view(const Model& model);

}  // namespace hal::conformance

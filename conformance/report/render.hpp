// The formats of a report, each from a model. All but JSON and TAP are templates (templates/, mustache) that are
// compiled in.
#pragma once

#include <string>

#include "model.hpp"

namespace hal::conformance {

[[nodiscard]] std::string junit_text(const Model& model);
[[nodiscard]] std::string markdown_text(const Model& model);
[[nodiscard]] std::string html_text(const Model& model);
[[nodiscard]] std::string tap_text(const Model& model);

}  // namespace hal::conformance

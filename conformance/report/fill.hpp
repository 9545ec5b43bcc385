// Fills a template of templates/ with JSON. What {{name}} puts in is escaped; {{{name}}} is for markup that was made
// here.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hal::conformance {

using Escape = std::function<std::string(const std::string&)>;

// Names of templates are those of their files.
[[nodiscard]] std::string_view template_text(std::string_view name);
// Throws std::logic_error for a damaged template.
[[nodiscard]] std::string fill(std::string_view name, const nlohmann::json& values, const Escape& escape);

}  // namespace hal::conformance

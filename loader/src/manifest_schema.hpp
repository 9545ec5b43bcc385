// schemas/backend-1.json, compiled in: what it says about a document.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hal::loader {

// The text of the schema file.
std::string_view manifest_schema_text();

// Throws Refusal L012: pointer, what is expected, what is there.
void check_manifest_schema(const nlohmann::json& document, const std::string& path);

// Keys that the schema does not know, x- excepted: "/backend: unknown key \"pririty\"; did you mean priority?"
std::vector<std::string> unknown_manifest_keys(const nlohmann::json& document);

}  // namespace hal::loader

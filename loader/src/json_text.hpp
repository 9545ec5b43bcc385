// JSON of strangers: limits are enforced while it is read, before anything recursive sees it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hal::loader {

// The parsed text. nlohmann's own destructor allocates, which ends the process when there is no memory left; this one
// empties the tree from its leaves first, and then nothing is left to allocate for.
struct JsonDocument {
    nlohmann::json root;
    JsonDocument() = default;
    JsonDocument(JsonDocument&&) = default;
    JsonDocument& operator=(JsonDocument&&) = delete;
    JsonDocument(const JsonDocument&) = delete;
    JsonDocument& operator=(const JsonDocument&) = delete;
    ~JsonDocument();
};

// `path` is for messages. Throws Refusal: L011 for what is no JSON in UTF-8, L012 for a number beyond a double or a NUL
// in a string (both would be cut short later), L014 for depth, length, count and keys that appear twice.
JsonDocument parse_json(std::string_view text, const std::string& path);

}  // namespace hal::loader

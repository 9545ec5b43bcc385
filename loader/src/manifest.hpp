// Reads a manifest as if it came from an enemy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "candidate.hpp"

namespace hal::loader {

// Something about a manifest that is no reason to refuse it.
struct Remark {
    uint32_t level;  // HAL_LOG_*
    std::string text;
};

// Fills `out` and appends to `remarks`. Throws Refusal (L010 to L014); out.id is then set if it could be read.
void read_manifest(const std::string& path, Manifest& out, std::vector<Remark>& remarks);

// The same for a text; `path` is for messages.
void parse_manifest(std::string_view text, const std::string& path, Manifest& out, std::vector<Remark>& remarks);

}  // namespace hal::loader

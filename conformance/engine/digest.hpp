// SHA-256 of files and texts, as lower-case hexadecimal digits.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hal::conformance {

// Empty if the file cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& file);
[[nodiscard]] std::string sha256_of(std::string_view text);

}  // namespace hal::conformance

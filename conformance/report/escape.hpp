// Texts of a plug-in on their way into a report: they may hold anything.
#pragma once

#include <string>
#include <string_view>

namespace hal::conformance {

// Valid UTF-8 without control characters but new line and tab: what is none is shown as \x1b or U+FFFD.
[[nodiscard]] std::string clean(std::string_view text);
// The same in one line, and no longer than `most` bytes.
[[nodiscard]] std::string one_line(std::string_view text, size_t most = 1000);

[[nodiscard]] std::string escape_xml(const std::string& text);
[[nodiscard]] std::string escape_markdown(const std::string& text);
// For a POSIX shell, in single quotes if it needs any.
[[nodiscard]] std::string shell_quoted(std::string_view text);

}  // namespace hal::conformance

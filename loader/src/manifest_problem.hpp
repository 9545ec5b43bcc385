// The words of all refusals of a manifest.
#pragma once

#include <string>
#include <string_view>

#include "log.hpp"
#include "problem.hpp"

namespace hal::loader {

// Throws a Refusal MANIFEST_INVALID with the code (L011, L012, L014); `where` is a JSON pointer, a line:column or
// empty.
[[noreturn]] inline void refuse_manifest(const char* code, const std::string& path, const std::string& where,
                                         const std::string& what) {
    const bool line_and_column = !where.empty() && where.front() != '/';
    const std::string place = where.empty() ? "" : (line_and_column ? ":" : ": ") + where;
    throw Refusal({HAL_STATE_MANIFEST_INVALID, HAL_ERROR_INVALID_ARGUMENT, code,
                   printable(path, 4096) + place + ": " + what,
                   "correct the file and check it with 'hal-info --check FILE'"});
}

// The pointer of a member; a pointer is printable text of the file's own keys.
inline std::string member_pointer(const std::string& parent, std::string_view key) {
    std::string escaped;
    for (const char c : key) {
        escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return parent + "/" + printable(escaped, 64);
}

}  // namespace hal::loader

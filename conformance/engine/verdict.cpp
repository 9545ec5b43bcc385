#include "verdict.hpp"

#include <stdexcept>
#include <string>

namespace hal::conformance {

std::string_view name(Verdict verdict) {
    static constexpr std::array<std::string_view, verdict_count> names{
        "NOT_IMPLEMENTED", "NOT_APPLICABLE", "PASS", "QUALITY", "NOT_RUN",       "BLOCKED",
        "FLAKY",           "FAIL",           "HANG", "CRASH",   "HARNESS_ERROR",
    };
    return names[static_cast<size_t>(verdict)];
}

Verdict verdict_of(std::string_view text) {
    for (size_t i = 0; i < verdict_count; ++i) {
        if (name(static_cast<Verdict>(i)) == text) {
            return static_cast<Verdict>(i);
        }
    }
    throw std::invalid_argument("no verdict is called " + std::string(text));
}

}  // namespace hal::conformance

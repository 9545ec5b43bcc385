#include "verdict.hpp"

namespace hal::conformance {

std::string_view name(Verdict verdict) {
    static constexpr std::array<std::string_view, verdict_count> names{
        "NOT_IMPLEMENTED", "NOT_APPLICABLE", "PASS", "QUALITY", "NOT_RUN",       "BLOCKED",
        "FLAKY",           "FAIL",           "HANG", "CRASH",   "HARNESS_ERROR",
    };
    return names[static_cast<size_t>(verdict)];
}

int exit_status(const Totals& totals) {
    if (totals.of(Verdict::harness_error) != 0) {
        return 6;
    }
    if (totals.of(Verdict::not_run) != 0) {
        return 4;
    }
    for (size_t i = 0; i < verdict_count; ++i) {
        if (totals.count[i] != 0 && bad(static_cast<Verdict>(i))) {
            return 1;
        }
    }
    return 0;
}

}  // namespace hal::conformance

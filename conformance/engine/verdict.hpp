// The outcome of a case, and which of two is worse.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hal::conformance {

// From best to worst: a row or a run is as good as the worst of its cases.
enum class Verdict : uint8_t {
    not_implemented,
    not_applicable,
    pass,
    quality,
    not_run,
    blocked,
    flaky,
    fail,
    hang,
    crash,
    harness_error,
};
inline constexpr size_t verdict_count = 11;

[[nodiscard]] std::string_view name(Verdict verdict);
// Throws std::invalid_argument for a text that names none.
[[nodiscard]] Verdict verdict_of(std::string_view text);

// A verdict only ever gets worse.
[[nodiscard]] constexpr Verdict worse(Verdict a, Verdict b) {
    return a < b ? b : a;
}

// Counts against the plug-in.
[[nodiscard]] constexpr bool bad(Verdict verdict) {
    return verdict >= Verdict::blocked && verdict != Verdict::harness_error;
}

}  // namespace hal::conformance

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

// A verdict only ever gets worse.
[[nodiscard]] constexpr Verdict worse(Verdict a, Verdict b) {
    return a < b ? b : a;
}

// Counts against the plug-in.
[[nodiscard]] constexpr bool bad(Verdict verdict) {
    return verdict >= Verdict::blocked && verdict != Verdict::harness_error;
}

struct Totals {
    std::array<uint64_t, verdict_count> count{};

    void add(Verdict verdict) { ++count[static_cast<size_t>(verdict)]; }
    [[nodiscard]] uint64_t of(Verdict verdict) const { return count[static_cast<size_t>(verdict)]; }
};

// The process' exit status for a run. The highest-ranking cause wins: harness error 6, incomplete 4, bad verdicts 1,
// else 0.
[[nodiscard]] int exit_status(const Totals& totals);

}  // namespace hal::conformance

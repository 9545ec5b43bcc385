// What the checks of one case found. Any thread may report.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "verdict.hpp"

namespace hal::conformance {

// The line of a case that made a check. A type of ours because clang 14 has no std::source_location.
struct Where {
    const char* file = "";
    int line = 0;
    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

struct Finding {
    std::string where;
    std::string what;
    std::string expected;
    std::string got;
};

struct Outcome {
    Verdict verdict = Verdict::pass;
    std::string reason;  // why it does not apply, or what went wrong with the suite
    uint64_t checks_ok = 0;
    uint64_t checks_bad = 0;
    std::vector<Finding> findings;  // the first few
};

class Recorder {
  public:
    void passed();
    void failed(Finding finding);
    // The suite could not tell; the run is repeated, and is a harness error if that does not help.
    void inconclusive(std::string reason);

    [[nodiscard]] bool is_inconclusive() const;
    // FAIL with a failed check (QUALITY if that is all the case may say), HARNESS_ERROR without any check.
    [[nodiscard]] Outcome outcome(bool quality_only) const;

  private:
    mutable std::mutex mutex_;
    Outcome so_far_;
    std::string inconclusive_;
};

}  // namespace hal::conformance

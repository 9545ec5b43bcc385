// What the checks of one case found. Any thread may report.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "authority.hpp"

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
    enum authority authority = authority::A;
};

struct Metric {
    std::string name;
    double value = 0;
    std::string unit;
};

// Everything that the checks of one run of a case said. No verdict: that is for judge().
struct Record {
    uint64_t checks_ok = 0;
    std::array<uint64_t, 4> checks_bad{};  // by authority
    std::vector<Finding> findings;         // the first few
    std::string inconclusive;              // the suite could not tell; the run is repeated
    std::string harness_error;             // the suite's own fault

    [[nodiscard]] uint64_t bad() const { return std::accumulate(checks_bad.begin(), checks_bad.end(), uint64_t{0}); }
};

class Recorder {
  public:
    // `tell` hears of each finding that is kept, at once and under a lock: what was found survives the process.
    explicit Recorder(std::function<void(const Finding&)> tell = {}) : tell_(std::move(tell)) {}

    void passed();
    void failed(Finding finding);
    // The suite could not tell; the run is repeated, and is a harness error if that does not help.
    void inconclusive(std::string reason);

    void harness_error(std::string reason);

    [[nodiscard]] Record record() const;

  private:
    mutable std::mutex mutex_;
    Record so_far_;
    std::function<void(const Finding&)> tell_;
};

}  // namespace hal::conformance

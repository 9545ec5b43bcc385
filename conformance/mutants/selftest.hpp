// The proof that the checker catches faults: runs it against every mutant, and against what is odd and legal.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "selftest_report.hpp"

namespace hal::conformance {

struct SelftestOptions {
    std::filesystem::path manifest;  // of the overlay; empty: that of this installation
    std::vector<std::string> only;   // globs of mutants' names; empty: all
    bool mini = false;               // the first mutant of each class by its first killer, one seed
    bool whole_suite = false;        // every case against every oddity; otherwise --quick
    uint64_t seed = 1;
    uint64_t rounds = 5;  // with other data each
    int jobs = 0;         // 0: as many as there are cores
};

// `tell` hears of each thing that is done.
[[nodiscard]] SelftestReport run_selftest(const SelftestOptions& options,
                                          const std::function<void(const std::string&)>& tell);

}  // namespace hal::conformance

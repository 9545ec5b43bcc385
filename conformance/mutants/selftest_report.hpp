// What a selftest found: of each mutant with each of its killers, of what is generated, of what is odd and legal.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hal::conformance {

// A mutant and one of its killers.
struct KillResult {
    std::string mutant, killer;
    std::string expected;  // verdict and message
    std::string verdict;   // what the killer said, in the worst round for the suite
    std::string reason;    // the first finding then
    uint64_t killed = 0;   // rounds with the expected verdict and message
    uint64_t rounds = 0;
    std::set<std::string> by;  // the cases that did it, with their parameters
    [[nodiscard]] bool good() const { return rounds != 0 && killed == rounds; }
};

struct GeneratedResult {
    std::string op, entry;
    std::vector<std::string> killers;  // ids with a bad verdict; "load" if it could not even be opened
    std::string_view legal;            // why nobody need notice it
};

struct OddityResult {
    std::string name;
    std::vector<std::string> accusations;  // "FAIL id: reason"
    std::vector<std::string> qualities;    // the same for QUALITY, which is allowed
};

struct SelftestReport {
    std::string catalogue;  // hash of the cases
    uint64_t seed = 0;
    std::vector<KillResult> kills;
    std::vector<GeneratedResult> generated;
    std::vector<OddityResult> oddities;
    std::vector<std::string> faults;      // a killer that no case matches
    std::vector<std::string> left_out;    // mutants whose base is not here, and why
    std::vector<std::string> idle_cases;  // cases that killed nothing; only of a full run

    // Rows where doing nothing passes.
    [[nodiscard]] std::vector<std::string> smoke_only() const;
    [[nodiscard]] std::vector<std::string> survivors() const;
    [[nodiscard]] bool good() const;
};

// As the report's `power` block reads it, with what only people read beside it.
[[nodiscard]] nlohmann::json to_json(const SelftestReport& report);
void print(std::ostream& out, const SelftestReport& report);

}  // namespace hal::conformance

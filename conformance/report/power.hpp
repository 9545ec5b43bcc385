// What `selftest` proved about the suite, kept with a report as selftest.json: a checker is worth the faults it
// catches.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hal::conformance {

struct Power {
    struct Pair {
        std::string mutant, killer, verdict;  // what the killer said of the mutant
        bool killed = false;
    };
    std::string catalogue;  // hash of the catalogue it was made with
    std::vector<Pair> pairs;
    std::vector<std::string> harmless;  // oddities that no case may accuse
    std::vector<std::string> accused;   // those that one did
    std::string text;                   // of the file, which says more for people

    [[nodiscard]] size_t mutants() const;
    // Mutants of which a named killer failed.
    [[nodiscard]] std::vector<std::string> survivors() const;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Power::Pair, mutant, killer, verdict, killed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Power, catalogue, pairs, harmless, accused)

}  // namespace hal::conformance

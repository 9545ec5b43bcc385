// Clauses of the standards and of our contract that cases cite, for readers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/case.hpp"
#include "rows.hpp"

namespace hal::conformance {

struct Clause {
    std::string id;  // "45079/T2.7"
    std::string name_zh;
    Bilingual gloss;
    bool available = true;  // false: this project does not have the text, and nothing tests the clause
};

[[nodiscard]] const std::vector<Clause>& all_clauses();
// nullptr for an id that is none.
[[nodiscard]] const Clause* find_clause(std::string_view id);

// Every clause that a case cites and that does not exist or has no text.
[[nodiscard]] std::vector<std::string> clause_faults(const std::vector<Case>& cases);

}  // namespace hal::conformance

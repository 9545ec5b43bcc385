// The summary of a run for a terminal.
#pragma once

#include <iosfwd>

#include "model.hpp"

namespace hal::conformance {

enum class Language : uint8_t { en, zh, both };

struct TextStyle {
    bool colour = false;
    bool quiet = false;  // headlines and counts only
    Language language = Language::en;
};

// Rows, what is bad with the command that runs it again, the headlines, and the counts of all eleven verdicts.
void print_summary(std::ostream& out, const Model& model, const TextStyle& style = {});

// "pass 612  fail 2  crash 0 ...": every class, always.
[[nodiscard]] std::string counts_line(const Counts& counts);

// The same colour means the same verdict in every format: good, bad, warn, open or none.
[[nodiscard]] std::string_view kind_of(Verdict verdict);
[[nodiscard]] std::string_view kind_of(Outcome outcome);

}  // namespace hal::conformance

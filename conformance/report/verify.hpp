// Is a report what its log says? Nothing in the folder is trusted but events.jsonl, and that is held against the
// catalogue that is compiled in. Nothing of the folder is executed, and no word in it changes what is checked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model.hpp"

namespace hal::conformance {

// What was done to a report, by exit code; the first of them that holds is the program's.
enum class Fault : uint8_t {
    log_damaged = 20,      // unreadable, cut in the middle of a line, or not in the form of a log
    log_unfinished = 21,   // no end event: cut between lines, or the run was killed
    other_catalogue = 22,  // made by another suite
    plan_wrong = 23,       // the ids that were to run are not those of the catalogue
    test_missing = 24,
    test_twice = 25,
    test_unknown = 26,     // ran without having been planned
    applicability = 27,    // a case is called not applicable that applies, or the reverse
    file_missing = 28,     // a file of SHA256SUMS, or report.json itself
    file_changed = 29,     // is not what SHA256SUMS says, or is not listed
    verdict_changed = 30,  // report.json has another verdict than the log gives
    summary_changed = 31,  // rows, headlines, totals
    counts_differ = 32,    // between JSON, JUnit, Markdown, HTML
    waiver = 33,           // not valid at the day of the run or today
    selftest = 34,         // made with another catalogue
};

struct Problem {
    Fault fault;
    std::string text;
};

// Empty if the report is untouched. `today` is a day such as 2026-03-01.
[[nodiscard]] std::vector<Problem> verify(const std::filesystem::path& folder, const Catalogue& catalogue,
                                          const std::string& today);

// 0 without problems; else the smallest code.
[[nodiscard]] int exit_code(const std::vector<Problem>& problems);

// What of the log alone is wrong: plan, tests missing, twice or unknown, applicability.
void check_log(std::vector<Problem>& problems, const Log& log, const Catalogue& catalogue);
// The files of SHA256SUMS.
void check_sums(std::vector<Problem>& problems, const std::filesystem::path& folder);
// What the rendered files say against the model.
void check_files(std::vector<Problem>& problems, const std::filesystem::path& folder, const Model& model);

}  // namespace hal::conformance

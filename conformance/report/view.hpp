// The JSON of a report, with what a page shows beside it: colours, widths, groups.
#pragma once

#include <nlohmann/json.hpp>

#include "model.hpp"

namespace hal::conformance {

[[nodiscard]] nlohmann::json page_view(const Model& model);

// [{verdict, count}], of all eleven, in the order of the summary line.
[[nodiscard]] nlohmann::json counts_view(const Counts& counts);
// What a bad test says: reason, findings, stacks, output, and how to run it again.
[[nodiscard]] std::string details_of(const TestResult& test);
[[nodiscard]] std::string seconds(uint64_t ms);

}  // namespace hal::conformance

// The rows as text.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace hal::bench {

// An aligned table: figures as "median (best)", then notes and reasons below it.
[[nodiscard]] std::string to_table(const std::vector<Row>& rows);

// One line a row with a line of names before it (RFC 4180).
[[nodiscard]] std::string to_csv(const std::vector<Row>& rows);

// "12 rows: 9 reached, 1 missed, 2 inconclusive"
[[nodiscard]] std::string to_summary(const std::vector<Row>& rows);

}  // namespace hal::bench

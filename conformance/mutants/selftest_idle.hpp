// Cases that have caught nothing, and the list of those that need not.
#pragma once

#include "selftest_base.hpp"
#include "selftest_report.hpp"

namespace hal::conformance {

// Names in the list that are no case.
void note_unknown_idle_names(SelftestReport& report);

// After a full run: every case must have caught something in it, one of its instances at least, or have a reason not
// to.
void note_idle_cases(SelftestReport& report, SelftestBase& base);

}  // namespace hal::conformance

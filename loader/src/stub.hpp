// What fills a slot that has nothing behind it: functions that explain themselves.
#pragma once

#include "tables.hpp"

namespace hal::loader {

// UNSUPPORTED, with the back end, the clause, the row of the table and the entry in the text.
extern const Tables absent_tables;

// SHUTDOWN; `self` is the Head.
extern const Tables shutdown_tables;

}  // namespace hal::loader

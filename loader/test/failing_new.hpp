// See failing_new.cpp.
#pragma once

#include <cstdint>

// How many more allocations of this thread succeed; negative is no limit.
extern thread_local constinit int64_t allocations_left;

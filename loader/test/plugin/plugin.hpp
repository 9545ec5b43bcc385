// What the test back end and the tests share.
#pragma once

#include <atomic>

#include "hal/plugin.h"

namespace hal::loader::test {

// stage: "create", "initialize", "count", "destroy".
using Hook = hal_status (*)(const char* stage, const hal_host* host, hal_instance* instance);

}  // namespace hal::loader::test

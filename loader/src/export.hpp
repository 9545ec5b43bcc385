// First include of a file that defines functions of the C API: what loader.h declares is what the library exports,
// everything else is hidden by the build.
#pragma once

#pragma GCC visibility push(default)
#include "hal/loader.h"
#pragma GCC visibility pop

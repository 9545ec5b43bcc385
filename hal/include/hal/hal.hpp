// All that a framework includes in C++20: the loader, its back ends and devices, owners of streams, events and memory,
// and kernel launches, on top of hal.h. Errors are values (result.hpp); nothing throws but std::bad_alloc where a line
// says so. Order of life: Loader last. Everything made from a Loader's devices is gone before the Loader is closed.
#pragma once

#include "hal/backend.hpp"
#include "hal/buffer.hpp"
#include "hal/hal.h"
#include "hal/launch.hpp"
#include "hal/loader.hpp"
#include "hal/result.hpp"
#include "hal/stream.hpp"

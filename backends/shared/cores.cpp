#include "cores.hpp"

#include <sched.h>
#include <unistd.h>

namespace hal::shared {

uint32_t usable_cores() noexcept {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) {
        return static_cast<uint32_t>(CPU_COUNT(&set));
    }
    const long online = sysconf(_SC_NPROCESSORS_ONLN);  // more than 1024 processors
    return online > 0 ? static_cast<uint32_t>(online) : 1;
}

}  // namespace hal::shared

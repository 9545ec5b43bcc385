#include "handles.hpp"

#include <sys/random.h>
#include <time.h>

namespace hal::shared {

uint32_t random_generation() {
    uint32_t value = 0;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        value = static_cast<uint32_t>(now.tv_nsec * 2654435761);  // early in boot; only has to differ
    }
    return value;
}

}  // namespace hal::shared

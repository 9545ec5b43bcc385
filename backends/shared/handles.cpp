#include "handles.hpp"

#include <sys/random.h>

#include "deadline.hpp"

namespace hal::shared {

uint32_t random_generation() {
    uint32_t value = 0;
    if (getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value) {
        value = static_cast<uint32_t>(now_ns() * 2654435761U);  // early in boot; only has to differ
    }
    return value;
}

}  // namespace hal::shared

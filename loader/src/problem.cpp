#include "problem.hpp"

namespace hal::loader {

uint32_t problem_level(hal_backend_state state, bool named) noexcept {
    switch (state) {
        case HAL_STATE_DISCOVERED:
        case HAL_STATE_OPENING:
        case HAL_STATE_READY:
        case HAL_STATE_SHUT_DOWN:
            return HAL_LOG_DEBUG;
        case HAL_STATE_MASKED:
        case HAL_STATE_FILTERED:
        case HAL_STATE_DUPLICATE:
        case HAL_STATE_NO_DEVICE:
            return HAL_LOG_INFO;
        case HAL_STATE_ARCH_MISMATCH:
        case HAL_STATE_REQUIREMENT_MISSING:
            return named ? HAL_LOG_ERROR : HAL_LOG_INFO;
        default:
            return named ? HAL_LOG_ERROR : HAL_LOG_WARN;
    }
}

}  // namespace hal::loader

#include "record.hpp"

#include <string>

#include "hal/sdk.hpp"
#include "status_text.hpp"

namespace hal::cpu {

void Record::wait(Deadline deadline, Waiting& waiting, const char* entry) const {
    if (reached()) {
        return;
    }
    hal_status status = HAL_OK;
    if (shared) {
        status = shared->wait_until(version, deadline, [] { return false; });
    } else if (!point.timeline->wait_until(point.position, deadline, waiting)) {
        status = HAL_ERROR_TIMEOUT;
    }
    if (status == HAL_ERROR_TIMEOUT) {
        throw sdk::Error(status, std::string(entry) + ": the work was not complete within timeout_ns; it goes on");
    }
    if (status == HAL_ERROR_REMOTE) {
        throw sdk::Error(status,
                         std::string(entry) + ": the process that recorded the event ended before the work did");
    }
}

hal_status Record::report() const {
    if (shared) {
        if (const hal_status status = shared->outcome(version); status != HAL_OK) {
            throw sdk::Error(status, "the work that the event was recorded behind failed: " + shared::describe(status));
        }
    } else if (const hal_status status = point.outcome(); status != HAL_OK) {
        throw sdk::Error(status, point.timeline->failure_text());
    }
    return HAL_OK;
}

}  // namespace hal::cpu

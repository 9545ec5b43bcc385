// One record of an event, or the end of a stream's work: what a wait was bound to.
#pragma once

#include <cstdint>
#include <memory>

#include "hal/types.h"
#include "shared_records.hpp"
#include "timeline.hpp"

namespace hal::cpu {

// The point, or with `shared` a record that other processes see too. Default: never recorded, which counts as complete.
struct Record {
    Point point{};
    std::shared_ptr<SharedRecords> shared{};
    uint64_t version = 0;

    [[nodiscard]] bool reached() const noexcept { return shared ? shared->reached(version) : point.reached(); }
    // Throws TIMEOUT naming the entry, or REMOTE.
    void wait(Deadline deadline, Waiting& waiting, const char* entry) const;
    // Of a record that was reached: HAL_OK, or throws the error of the work with its text.
    hal_status report() const;
};

}  // namespace hal::cpu

#include "staging.hpp"

#include "device.hpp"

namespace hal::opencl {

Lane& Staging::idle_lane() {
    for (Lane& lane : lanes_) {
        if (!lane.taken && lane.written.ended()) {
            return lane;
        }
    }
    auto queue = device_.make_queue(0);
    Lane& lane = lanes_.emplace_back();
    lane.queue = std::move(queue);
    return lane;
}

Lane& Staging::take(uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    Lane& lane = idle_lane();
    lane.bytes.reset();
    lane.bytes = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    lane.written = {};
    lane.taken = true;
    return lane;
}

void Staging::give_back(Lane& lane, Event written) {
    const std::lock_guard lock(mutex_);
    lane.written = std::move(written);
    lane.taken = false;
}

}  // namespace hal::opencl

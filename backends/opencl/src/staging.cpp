#include "staging.hpp"

#include "device.hpp"

namespace hal::opencl {

Staging::~Staging() {
    for (const Lane& lane : lanes_) {
        static_cast<void>(device_.api().clFinish(lane.queue));
        static_cast<void>(device_.api().clReleaseCommandQueue(lane.queue));
    }
}

Lane& Staging::idle_lane() {
    for (Lane& lane : lanes_) {
        if (!lane.taken && lane.written.ended()) {
            return lane;
        }
    }
    const cl_command_queue queue = device_.create_queue();
    Lane& lane = lanes_.emplace_back();
    lane.queue = queue;
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

#include "copy.hpp"

#include <algorithm>
#include <memory>

#include "device.hpp"
#include "stream.hpp"

namespace hal::opencl {
namespace {

// Ranges that overlap go through memory of at most this size, piece by piece.
constexpr uint64_t most_piece_bytes = uint64_t{64} << 20U;

cl_int copy_apart(const Api& api, cl_command_queue queue, const Place& dst, const Place& src, uint64_t bytes,
                  bool blocking, cl_event* out) {
    const cl_bool wait = blocking ? CL_TRUE : CL_FALSE;
    if (dst.buffer != nullptr && src.buffer != nullptr) {
        return api.clEnqueueCopyBuffer(queue, src.buffer, dst.buffer, src.offset, dst.offset, bytes, 0, nullptr, out);
    }
    if (dst.buffer != nullptr) {
        return api.clEnqueueWriteBuffer(queue, dst.buffer, wait, dst.offset, bytes, src.pointer, 0, nullptr, out);
    }
    if (src.buffer != nullptr) {
        return api.clEnqueueReadBuffer(queue, src.buffer, wait, src.offset, bytes, dst.pointer, 0, nullptr, out);
    }
    return api.clEnqueueSVMMemcpy(queue, wait, dst.pointer, src.pointer, bytes, 0, nullptr, out);
}

// The distance that dst lies above src, in the memory that both belong to; nothing for different memories.
bool overlap(const Place& dst, const Place& src, uint64_t bytes, bool& upward) {
    if (dst.buffer != src.buffer) {
        return false;
    }
    const uint64_t to = dst.buffer != nullptr ? dst.offset : reinterpret_cast<uint64_t>(dst.pointer);
    const uint64_t from = src.buffer != nullptr ? src.offset : reinterpret_cast<uint64_t>(src.pointer);
    upward = to > from;
    return to != from && (upward ? to - from : from - to) < bytes;
}

// Memory of the kind of `like` for a copy by way of it. The driver keeps it until the commands that use it are done.
class Between {
  public:
    Between(const Device& device, cl_command_queue queue, const Place& like, uint64_t bytes)
        : api_(device.api()), queue_(queue) {
        if (like.buffer != nullptr) {
            place_.buffer = api_.clCreateBuffer(device.context(), CL_MEM_READ_WRITE, bytes, nullptr, &error_);
        } else {
            place_.pointer = api_.clSVMAlloc(device.context(), CL_MEM_READ_WRITE, bytes, 0);
            error_ = place_.pointer == nullptr ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
        }
    }
    ~Between() {
        if (place_.buffer != nullptr) {
            static_cast<void>(api_.clReleaseMemObject(place_.buffer));
        } else if (place_.pointer != nullptr) {
            static_cast<void>(api_.clEnqueueSVMFree(queue_, 1, &place_.pointer, nullptr, nullptr, 0, nullptr, nullptr));
        }
    }
    Between(const Between&) = delete;
    Between& operator=(const Between&) = delete;
    [[nodiscard]] cl_int error() const noexcept { return error_; }
    [[nodiscard]] const Place& place() const noexcept { return place_; }

  private:
    const Api& api_;
    cl_command_queue queue_;
    cl_int error_ = CL_SUCCESS;
    Place place_;
};

// The queue is in order, so one piece of memory serves all pieces.
cl_int copy_overlapping(const Device& device, cl_command_queue queue, const Place& dst, const Place& src,
                        uint64_t bytes, bool upward, cl_event* out) {
    const uint64_t piece = std::min(bytes, most_piece_bytes);
    const Between between(device, queue, dst, piece);
    cl_int error = between.error();
    const uint64_t pieces = (bytes + piece - 1) / piece;
    for (uint64_t i = 0; i < pieces && error == CL_SUCCESS; ++i) {
        const uint64_t at = (upward ? pieces - 1 - i : i) * piece;
        const uint64_t count = std::min(piece, bytes - at);
        error = copy_apart(device.api(), queue, between.place(), src.at(at), count, false, nullptr);
        if (error == CL_SUCCESS) {
            error = copy_apart(device.api(), queue, dst.at(at), between.place(), count, false,
                               i + 1 == pieces ? out : nullptr);
        }
    }
    return error;
}

}  // namespace

cl_int copy(const Device& device, cl_command_queue queue, const Place& dst, const Place& src, uint64_t bytes,
            bool blocking, cl_event* out) {
    if (dst.buffer == src.buffer && dst.offset == src.offset && dst.pointer == src.pointer) {
        return device.api().clEnqueueMarkerWithWaitList(queue, 0, nullptr, out);  // onto itself
    }
    bool upward = false;
    cl_int error = overlap(dst, src, bytes, upward) ? copy_overlapping(device, queue, dst, src, bytes, upward, out)
                                                    : copy_apart(device.api(), queue, dst, src, bytes, blocking, out);
    if (error == CL_SUCCESS && blocking) {
        error = device.api().clFinish(queue);
    }
    return error;
}

cl_int fill(const Device& device, cl_command_queue queue, const Place& dst, uint32_t value, uint64_t bytes,
            cl_event* out) {
    const auto byte = static_cast<uint8_t>(value);
    const Api& api = device.api();
    return dst.buffer != nullptr
               ? api.clEnqueueFillBuffer(queue, dst.buffer, &byte, 1, dst.offset, bytes, 0, nullptr, out)
               : api.clEnqueueSVMMemFill(queue, dst.pointer, &byte, 1, bytes, 0, nullptr, out);
}

void copy_staged(Device& dst_device, const Place& dst, Device& src_device, const Place& src, Stream& stream,
                 hal_stream handle, uint64_t bytes) {
    const Api& api = src_device.api();
    Lane& lane = dst_device.staging.take(bytes);
    Event last;  // of what uses the lane
    try {
        const Place host = Place::host(lane.bytes.get());
        stream.enqueue(handle, "copy from the source device", [&](cl_command_queue queue, cl_event* out) {
            return copy(src_device, queue, host, src, bytes, false, out);
        });
        last = stream.tail(handle).event;
        if (const Event ready = bridged(api, last, dst_device.context())) {
            cl_event waited = ready.get();
            check(api.clEnqueueBarrierWithWaitList(lane.queue->get(), 1, &waited, nullptr),
                  "clEnqueueBarrierWithWaitList");
        }
        cl_event event = nullptr;
        check(copy(dst_device, lane.queue->get(), dst, host, bytes, false, &event), "copy to the destination device");
        last = Event(api, event);
        check(api.clFlush(lane.queue->get()), "clFlush");
        stream.wait_for(handle, last);
    } catch (...) {
        dst_device.staging.give_back(lane, std::move(last));
        throw;
    }
    dst_device.staging.give_back(lane, std::move(last));
}

}  // namespace hal::opencl

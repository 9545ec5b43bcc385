// Moving and filling bytes with the driver's commands.
#pragma once

#include <cstdint>

#include "api.hpp"
#include "device_memory.hpp"
#include "stream.hpp"

namespace hal::opencl {

// Enqueues the copy between two places of one context, or of the host; overlapping ranges behave as memmove. Returns
// the driver's error; `out` is the event of the last command and may be NULL, `blocking` waits for it. More than 0
// bytes.
[[nodiscard]] cl_int copy(const Device& device, cl_command_queue queue, const Place& dst, const Place& src,
                          uint64_t bytes, bool blocking, cl_event* out);
// Enqueues setting every byte to the low byte of value. More than 0 bytes.
[[nodiscard]] cl_int fill(const Device& device, cl_command_queue queue, const Place& dst, uint32_t value,
                          uint64_t bytes, cl_event* out);

// A copy between devices of different contexts, by way of the host, in the order of `stream`, which is one of the
// source's. Nothing waits.
void copy_staged(Device& dst_device, const Place& dst, Device& src_device, const Place& src, Stream& stream,
                 hal_stream handle, uint64_t bytes);

}  // namespace hal::opencl

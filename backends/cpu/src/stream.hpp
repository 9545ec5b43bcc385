// Streams: one worker thread each, started with the first work; the queue in front of it is unbounded, so that enqueuing never
// waits for work to finish.
#pragma once

#include "hal/sdk.hpp"

namespace hal::cpu {

class Instance;

// Enqueues `work`, a callable `hal_status() noexcept`, on a stream of a device (NULL: the default stream). It runs on the stream's
// worker after all earlier work; an error it returns makes the stream sticky-failed. Small trivially copyable callables are
// kept in the queue itself, others on the heap. Throws sdk::Error (INVALID_DEVICE, INVALID_HANDLE, OUT_OF_RESOURCES).
template <class Work>
void enqueue(Instance& instance, hal_dev device, hal_stream stream, Work&& work);

}  // namespace hal::cpu

// What the cases on streams and events share: calls that wait, and what is asked of them at a gate.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

using Call = std::function<hal_status()>;

[[nodiscard]] Call stream_wait(Test& t, hal_stream stream, hal_dev dev = 0);
[[nodiscard]] Call event_wait(Test& t, hal_event event, hal_dev dev = 0);
[[nodiscard]] Call device_wait(Test& t, hal_dev dev = 0);

// The call waits while the gate is closed and nothing of the work has begun; with the gate open it succeeds and the
// work is done.
void check_waits(Test& t, const Gate& gate, const Call& call, std::initializer_list<Work*> works = {},
                 Where where = Where::here());
// The same of 16 threads that wait at once.
void check_many_wait(Test& t, const Gate& gate, const Call& call, Where where = Where::here());
// The call with a time limit gives up behind the gate, not before the limit, and at once for the limit 0. The gate
// stays closed.
void check_gives_up(Test& t, const Gate& gate, const std::function<hal_status(uint64_t timeout_ns)>& call,
                    Where where = Where::here());

// A stream that waits for another one.
struct Handover {
    hal_stream producer = nullptr;
    hal_stream consumer = nullptr;
    hal_event event = nullptr;
};
[[nodiscard]] Handover make_handover(Test& t, hal_dev from = 0, hal_dev to = 0);
// Records on the producer; the consumer waits.
void hand_over(Test& t, const Handover& pair, hal_dev from = 0, hal_dev to = 0, Where where = Where::here());
// What the two above call, and the wait for the consumer.
[[nodiscard]] const NeedGroup& handover();
// An event that is recorded and waited for by the host.
[[nodiscard]] const NeedGroup& event_io();

// Counts its calls; for stream_add_callback.
struct Count {
    std::atomic<int> calls{0};
    static void up(void* user_data, hal_dev, hal_stream, hal_status) { ++static_cast<Count*>(user_data)->calls; }
};

}  // namespace hal::conformance

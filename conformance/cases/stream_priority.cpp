// Table 3: what a stream's priority does. Nothing of it is promised and a busy host changes it, so that it is a figure of
// the report and no finding.
#include "waits.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t bytes = 1U << 20U;
constexpr int copies = 24;
constexpr size_t lows = 8;

struct Runner {
    hal_stream stream = nullptr;
    hal_event end = nullptr;
    const DeviceBuffer* from = nullptr;
    const DeviceBuffer* to = nullptr;
};

Runner make_runner(Test& t, int32_t priority) {
    Runner runner{nullptr, t.event(), &t.device(bytes), &t.device(bytes)};
    const hal_stream_desc desc{{sizeof(hal_stream_desc), 0, nullptr}, priority, 0};
    t.ok(t.api.create_stream(0, &desc, &runner.stream), "create_stream of a priority");
    return runner;
}

// Eight streams of the least priority and one of the greatest begin at once with the same work.
HAL_CASE("45079.T3.create_stream.norm.priority_effect", clauses{"46345/T5", "45079/T3.1"}, authority::Q,
         needs{E::create_stream, handover(), E::stream_priority_range, E::query_event, memory_io(),
               E::async_memory_copy_d2d, a_gate},
         cls::medium)
(Test& t) {
    int32_t least = 0;
    int32_t greatest = 0;
    t.ok(t.api.stream_priority_range(0, &least, &greatest));
    std::vector<Runner> runners;
    for (size_t i = 0; i < lows; ++i) {
        runners.push_back(make_runner(t, least));
    }
    runners.push_back(make_runner(t, greatest));
    const hal_stream start = t.stream();
    const hal_event started = t.event();
    const Gate g = t.gate(start);
    t.ok(t.api.record_event(0, start, started));
    for (const Runner& runner : runners) {
        t.ok(t.api.stream_wait_event(0, runner.stream, started));
        for (int i = 0; i < copies; ++i) {
            t.ok(t.api.async_memory_copy_d2d(0, runner.stream, runner.to->ptr, runner.from->ptr, bytes));
        }
        t.ok(t.api.record_event(0, runner.stream, runner.end));
    }
    g.open();
    const hal_event high = runners.back().end;
    t.ok(t.poll([&] { return t.api.query_event(0, high); }));
    size_t before = 0;
    for (size_t i = 0; i < lows; ++i) {
        before += t.api.query_event(0, runners[i].end) == HAL_OK ? 1 : 0;
    }
    t.metric("low_streams_done_first", static_cast<double>(before), "of 8");
    for (const Runner& runner : runners) {
        t.ok(t.api.destroy_stream(0, runner.stream));
    }
}

}  // namespace
}  // namespace hal::conformance

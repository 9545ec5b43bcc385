#include "waits.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t short_ns = 5'000'000;  // well within the time for which a load holds
constexpr int waiters = 16;

}  // namespace

Call stream_wait(Test& t, hal_stream stream, hal_dev dev) {
    return [&t, stream, dev] { return t.api.synchronize_stream(dev, stream, HAL_NO_TIMEOUT); };
}

Call event_wait(Test& t, hal_event event, hal_dev dev) {
    return [&t, event, dev] { return t.api.synchronize_event(dev, event, HAL_NO_TIMEOUT); };
}

Call device_wait(Test& t, hal_dev dev) {
    return [&t, dev] { return t.api.synchronize_device(dev, HAL_NO_TIMEOUT); };
}

void check_waits(Test& t, const Gate& gate, const Call& call, std::initializer_list<Work*> works, Where where) {
    Helper wait = t.blocks(call, gate, where);
    for (Work* work : works) {
        work->expect_not_begun(where);
    }
    gate.open();
    t.ok(wait.status(), "status of the wait", where);
    for (Work* work : works) {
        work->expect_done(where);
    }
}

void check_many_wait(Test& t, const Gate& gate, const Call& call, Where where) {
    auto waits = t.all_block(waiters, call, gate, where);
    gate.open();
    for (Helper& wait : waits) {
        t.ok(wait.status(), "status of the wait", where);
    }
}

void check_gives_up(Test& t, const Gate& gate, const std::function<hal_status(uint64_t)>& call, Where where) {
    const auto begin = Gate::Clock::now();
    t.refused_behind(
        gate, HAL_ERROR_TIMEOUT, [&] { return call(short_ns); }, where);
    t.check(Gate::Clock::now() - begin >= std::chrono::nanoseconds(short_ns), "not before the limit", where);
    t.refused_behind(
        gate, HAL_ERROR_TIMEOUT, [&] { return call(0); }, where);
}

Handover make_handover(Test& t, hal_dev from, hal_dev to) {
    return {t.stream(from), t.stream(to), t.event(from)};
}

void hand_over(Test& t, const Handover& pair, hal_dev from, hal_dev to, Where where) {
    t.ok(t.api.record_event(from, pair.producer, pair.event), "record_event", where);
    t.ok(t.api.stream_wait_event(to, pair.consumer, pair.event), "stream_wait_event", where);
}

const NeedGroup& handover() {
    static const NeedGroup group{E::create_stream, E::destroy_stream, E::synchronize_stream, E::create_event,
                                 E::destroy_event, E::record_event,   E::stream_wait_event};
    return group;
}

const NeedGroup& event_io() {
    static const NeedGroup group{E::create_event, E::destroy_event, E::record_event, E::synchronize_event};
    return group;
}

}  // namespace hal::conformance

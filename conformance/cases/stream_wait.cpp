// Table 3: stream_wait_event. A stream waits for the most recent record of the event at the time of the call.
#include "waits.hpp"

namespace hal::conformance {
namespace {

void check_consumer_waits(Test& t) {
    const Handover pair = make_handover(t);
    Work& w = t.work(pair.consumer);
    const Gate g = t.gate(pair.producer);
    hand_over(t, pair);
    w.enqueue();
    check_waits(t, g, stream_wait(t, pair.consumer), {&w});
}

void check_across_devices(Test& t) {
    for (const hal_dev from : {0, 1}) {
        const hal_dev to = 1 - from;
        const Handover pair = make_handover(t, from, to);
        Work& w = t.work(pair.consumer, to);
        const Gate g = t.gate(pair.producer, from);
        hand_over(t, pair, from, to);
        w.enqueue();
        check_waits(t, g, stream_wait(t, pair.consumer, to), {&w});
    }
}

HAL_CASE("45079.T3.stream_wait_event.order.blocks_consumer", clauses{"45079/T3.6", "45280/5.3.4"}, authority::S,
         needs{E::stream_wait_event, handover(), a_gate}, work_sources())
(Test& t) {
    check_consumer_waits(t);
}

// What an event puts in order, by who waits for whom.
over pairs() {
    std::vector<Need> streams = handover().list;
    std::vector<Need> devices_too = streams;
    devices_too.push_back(devices(2));
    return {
        "pair",
        {Value("stream_stream", streams), Value("host_device", event_io().list), Value("device_device", devices_too)}};
}

HAL_CASE("45280.5_3_4.event_orders", clauses{"45280/5.3.4"}, authority::S, needs{any_work, a_gate}, pairs())
(Test& t) {
    if (t.param("pair") == "stream_stream") {
        check_consumer_waits(t);
    } else if (t.param("pair") == "device_device") {
        check_across_devices(t);
    } else {
        const hal_stream s = t.stream();
        const hal_event event = t.event();
        Work& w = t.work(s);
        const Gate g = t.gate(s);
        w.enqueue();
        t.ok(t.api.record_event(0, s, event));
        check_waits(t, g, event_wait(t, event), {&w});
    }
}

HAL_CASE("45079.T3.stream_wait_event.order.host_not_blocked", clauses{"45079/T3.6", "45280/5.3.4"}, authority::S,
         needs{E::stream_wait_event, handover(), a_gate})
(Test& t) {
    const Handover pair = make_handover(t);
    const Gate g = t.gate(pair.producer);
    t.ok(t.api.record_event(0, pair.producer, pair.event));
    t.ok(t.returns([&] { return t.api.stream_wait_event(0, pair.consumer, pair.event); }, g));
    g.open();
    t.ok(t.api.synchronize_stream(0, pair.consumer, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.T3.stream_wait_event.order.binds_to_prior_record", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), any_work, E::stream_add_callback, concurrent_streams})
(Test& t) {
    const Handover pair = make_handover(t);
    Work& w = t.work(pair.consumer);
    hand_over(t, pair);
    t.ok(t.api.synchronize_stream(0, pair.producer, HAL_NO_TIMEOUT));
    // A new record behind a gate leaves the earlier wait as it was.
    const Gate g = t.gate(pair.producer);
    t.ok(t.api.record_event(0, pair.producer, pair.event));
    w.enqueue();
    t.ok(t.returns([&] { return t.api.synchronize_stream(0, pair.consumer, HAL_NO_TIMEOUT); }, g));
    g.open();
    w.expect_done();
}

HAL_CASE("45079.T3.stream_wait_event.order.keeps_its_record", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), any_work, E::stream_add_callback, concurrent_streams})
(Test& t) {
    const Handover pair = make_handover(t);
    const hal_stream third = t.stream();
    Work& w = t.work(pair.consumer);
    const Gate g = t.gate(pair.producer);
    hand_over(t, pair);
    w.enqueue();
    // The newer record is complete at once, and must not release a wait for the older one.
    t.ok(t.api.record_event(0, third, pair.event));
    t.ok(t.api.synchronize_stream(0, third, HAL_NO_TIMEOUT));
    check_waits(t, g, stream_wait(t, pair.consumer), {&w});
}

HAL_CASE("45079.T3.stream_wait_event.norm.never_recorded", clauses{"45079/T3.6"}, authority::A,
         needs{E::stream_wait_event, handover(), any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    t.ok(t.api.stream_wait_event(0, s, t.event()));
    w.enqueue();
    t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
    w.expect_done();
}

HAL_CASE("45079.T3.stream_wait_event.edge.completed_event", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), E::synchronize_event, any_work})
(Test& t) {
    const hal_stream first = t.stream();
    const hal_stream second = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(second);
    t.ok(t.api.record_event(0, first, event));
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    t.ok(t.api.stream_wait_event(0, second, event));
    w.enqueue();
    t.ok(t.api.synchronize_stream(0, second, HAL_NO_TIMEOUT));
    w.expect_done();
}

HAL_CASE("45079.T3.stream_wait_event.edge.same_stream", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), any_work})
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        const hal_event event = t.event();
        Work& w = t.work(s);
        t.ok(t.api.record_event(0, s, event));
        t.ok(t.api.stream_wait_event(0, s, event));
        w.enqueue();
        t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
        w.expect_done();
    }
}

HAL_CASE("45079.T3.stream_wait_event.norm.null_stream", clauses{"45079/T3.6"}, authority::A,
         needs{E::stream_wait_event, handover(), any_work, a_gate})
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(nullptr);
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.api.stream_wait_event(0, nullptr, event));
    w.enqueue();
    check_waits(t, g, stream_wait(t, nullptr), {&w});
}

HAL_CASE("45079.T3.stream_wait_event.order.fan_out", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), any_work, a_gate})
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_event event = t.event();
    std::vector<hal_stream> consumers;
    std::vector<Work*> works;
    for (int i = 0; i < 16; ++i) {
        consumers.push_back(t.stream());
        works.push_back(&t.work(consumers.back()));
    }
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    for (size_t i = 0; i < consumers.size(); ++i) {
        t.ok(t.api.stream_wait_event(0, consumers[i], event));
        works[i]->enqueue();
    }
    Helper wait = t.blocks([&] { return t.api.synchronize_stream(0, consumers[7], HAL_NO_TIMEOUT); }, g);
    for (Work* w : works) {
        w->expect_not_begun();
    }
    g.open();
    t.ok(wait.status());
    for (size_t i = 0; i < consumers.size(); ++i) {
        t.ok(t.api.synchronize_stream(0, consumers[i], HAL_NO_TIMEOUT));
        works[i]->expect_done();
    }
}

// One stream waits for 16; the gate is on each of them in turn.
HAL_CASE("45079.T3.stream_wait_event.order.fan_in", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), a_gate})
(Test& t) {
    const hal_stream consumer = t.stream();
    std::vector<hal_stream> producers;
    std::vector<hal_event> events;
    for (int i = 0; i < 16; ++i) {
        producers.push_back(t.stream());
        events.push_back(t.event());
    }
    for (const size_t held : {size_t{0}, size_t{8}, size_t{15}}) {
        const Gate g = t.gate(producers[held]);
        for (size_t i = 0; i < producers.size(); ++i) {
            t.ok(t.api.record_event(0, producers[i], events[i]));
            t.ok(t.api.stream_wait_event(0, consumer, events[i]));
        }
        check_waits(t, g, stream_wait(t, consumer));
    }
}

HAL_CASE("45079.T3.stream_wait_event.order.chain", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), memory_io(), E::async_memory_copy_d2d, E::async_memory_copy_h2d,
               a_gate})
(Test& t) {
    constexpr int links = 64;
    constexpr uint64_t size = 257;
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, size);
    std::vector<DeviceBuffer*> buffers;
    std::vector<hal_stream> streams;
    std::vector<hal_event> events;
    for (int i = 0; i < links; ++i) {
        buffers.push_back(&t.device(size));
        streams.push_back(t.stream());
        events.push_back(t.event());
    }
    const Gate g = t.gate(streams[0]);
    t.ok(t.api.async_memory_copy_h2d(0, streams[0], buffers[0]->ptr, source.data(), size));
    for (size_t i = 1; i < links; ++i) {
        hand_over(t, {streams[i - 1], streams[i], events[i]});
        t.ok(t.api.async_memory_copy_d2d(0, streams[i], buffers[i]->ptr, buffers[i - 1]->ptr, size));
    }
    check_waits(t, g, stream_wait(t, streams[links - 1]));
    t.expect(*buffers[links - 1], pattern, "data through 64 streams");
}

// a -> b and c -> d: the last sees the data of both.
HAL_CASE("45079.T3.stream_wait_event.order.diamond", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), memory_io(), E::async_memory_copy_d2d, E::async_memory_copy_h2d,
               a_gate})
(Test& t) {
    constexpr uint64_t size = 4099;
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, size);
    const DeviceBuffer& top = t.device(size);
    const DeviceBuffer& left = t.device(size);
    const DeviceBuffer& right = t.device(size);
    const DeviceBuffer& bottom = t.device(2 * size);
    const Handover to_left = make_handover(t);
    const Handover to_right{to_left.producer, t.stream(), to_left.event};
    const Handover from_left{to_left.consumer, t.stream(), t.event()};
    const Handover from_right{to_right.consumer, from_left.consumer, t.event()};
    const Gate g = t.gate(to_left.producer);
    t.ok(t.api.async_memory_copy_h2d(0, to_left.producer, top.ptr, source.data(), size));
    hand_over(t, to_left);
    hand_over(t, to_right);
    t.ok(t.api.async_memory_copy_d2d(0, to_left.consumer, left.ptr, top.ptr, size));
    t.ok(t.api.async_memory_copy_d2d(0, to_right.consumer, right.ptr, top.ptr, size));
    hand_over(t, from_left);
    hand_over(t, from_right);
    t.ok(t.api.async_memory_copy_d2d(0, from_left.consumer, bottom.ptr, left.ptr, size));
    t.ok(t.api.async_memory_copy_d2d(0, from_left.consumer, bottom.ptr + size, right.ptr, size));
    check_waits(t, g, stream_wait(t, from_left.consumer));
    HostBuffer& back = t.host(size);
    for (const uint64_t half : {uint64_t{0}, size}) {
        t.ok(t.api.memory_copy_d2h(0, back.data(), bottom.ptr + half, size));
        t.expect(back, pattern, "data through one side of the diamond");
    }
}

HAL_CASE("45079.T3.stream_wait_event.order.cross_device", clauses{"45079/T3.6", "45280/5.3.4"}, authority::S,
         needs{E::stream_wait_event, handover(), a_gate, devices(2)}, work_sources())
(Test& t) {
    check_across_devices(t);
}

// An event may go while it is waited for; the wait holds.
void check_event_destroyed(Test& t) {
    Handover pair{t.stream(), t.stream(), nullptr};
    t.ok(t.api.create_event(0, nullptr, &pair.event));
    Work& w = t.work(pair.consumer);
    const Gate g = t.gate(pair.producer);
    hand_over(t, pair);
    w.enqueue();
    t.ok(t.returns([&] { return t.api.destroy_event(0, pair.event); }, g));
    check_waits(t, g, stream_wait(t, pair.consumer), {&w});
}

HAL_CASE("45079.T3.stream_wait_event.life.destroy_event_after_wait", clauses{"45079/T3.6", "45079/T4.2"}, authority::A,
         needs{E::stream_wait_event, handover(), any_work, a_gate})
(Test& t) {
    check_event_destroyed(t);
}
HAL_CASE("45079.T4.destroy_event.life.waited_pending", clauses{"45079/T4.2", "45079/T3.6"}, authority::A,
         needs{E::destroy_event, handover(), any_work, a_gate})
(Test& t) {
    check_event_destroyed(t);
}

HAL_CASE("45079.T3.stream_wait_event.life.destroy_producer", clauses{"45079/T3.6", "45079/T3.2"}, authority::A,
         needs{E::stream_wait_event, handover(), E::destroy_stream, any_work, a_gate})
(Test& t) {
    Handover pair{nullptr, t.stream(), t.event()};
    t.ok(t.api.create_stream(0, nullptr, &pair.producer));
    Work& w = t.work(pair.consumer);
    const Gate g = t.gate(pair.producer);
    hand_over(t, pair);
    w.enqueue();
    Helper destroy = t.blocks([&] { return t.api.destroy_stream(0, pair.producer); }, g);
    g.open();
    t.ok(destroy.status());
    t.ok(t.api.synchronize_stream(0, pair.consumer, HAL_NO_TIMEOUT));
    w.expect_done();
}

}  // namespace
}  // namespace hal::conformance

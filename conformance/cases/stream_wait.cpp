// Table 3: stream_wait_event. A stream waits for the most recent record of the event at the time of the call.
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T3.stream_wait_event.order.blocks_consumer", clauses{"45079/T3.6", "45280/5.3.4"}, authority::S,
         needs{E::stream_wait_event, handover(), a_gate}, work_sources())
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_stream consumer = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(consumer);
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.api.stream_wait_event(0, consumer, event));
    w.enqueue();
    check_waits(t, g, stream_wait(t, consumer), {&w});
}

HAL_CASE("45079.T3.stream_wait_event.order.host_not_blocked", clauses{"45079/T3.6", "45280/5.3.4"}, authority::S,
         needs{E::stream_wait_event, handover(), a_gate})
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_stream consumer = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.returns([&] { return t.api.stream_wait_event(0, consumer, event); }, g));
    g.open();
    t.ok(t.api.synchronize_stream(0, consumer, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.T3.stream_wait_event.order.binds_to_prior_record", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), any_work, E::stream_add_callback, concurrent_streams})
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_stream consumer = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(consumer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.api.stream_wait_event(0, consumer, event));
    t.ok(t.api.synchronize_stream(0, producer, HAL_NO_TIMEOUT));
    // A new record behind a gate leaves the earlier wait as it was.
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    w.enqueue();
    t.ok(t.returns([&] { return t.api.synchronize_stream(0, consumer, HAL_NO_TIMEOUT); }, g));
    g.open();
    w.expect_done();
}

HAL_CASE("45079.T3.stream_wait_event.order.keeps_its_record", clauses{"45079/T3.6"}, authority::D,
         needs{E::stream_wait_event, handover(), any_work, E::stream_add_callback, concurrent_streams})
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_stream consumer = t.stream();
    const hal_stream third = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(consumer);
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.api.stream_wait_event(0, consumer, event));
    w.enqueue();
    // The newer record is complete at once, and must not release a wait for the older one.
    t.ok(t.api.record_event(0, third, event));
    t.ok(t.api.synchronize_stream(0, third, HAL_NO_TIMEOUT));
    check_waits(t, g, stream_wait(t, consumer), {&w});
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
    for (int i = 0; i < links; ++i) {
        buffers.push_back(&t.device(size));
        streams.push_back(t.stream());
    }
    const Gate g = t.gate(streams[0]);
    t.ok(t.api.async_memory_copy_h2d(0, streams[0], buffers[0]->ptr, source.data(), size));
    for (size_t i = 1; i < links; ++i) {
        const hal_event event = t.event();
        t.ok(t.api.record_event(0, streams[i - 1], event));
        t.ok(t.api.stream_wait_event(0, streams[i], event));
        t.ok(t.api.async_memory_copy_d2d(0, streams[i], buffers[i]->ptr, buffers[i - 1]->ptr, size));
    }
    check_waits(t, g, stream_wait(t, streams[links - 1]));
    t.expect(*buffers[links - 1], pattern, "data through 64 streams");
}

HAL_CASE("45079.T3.stream_wait_event.order.cross_device", clauses{"45079/T3.6", "45280/5.3.4"}, authority::S,
         needs{E::stream_wait_event, handover(), a_gate, devices(2)}, work_sources())
(Test& t) {
    for (const hal_dev from : {0, 1}) {
        const hal_dev to = 1 - from;
        const hal_stream producer = t.stream(from);
        const hal_stream consumer = t.stream(to);
        const hal_event event = t.event(from);
        Work& w = t.work(consumer, to);
        const Gate g = t.gate(producer, from);
        t.ok(t.api.record_event(from, producer, event));
        t.ok(t.api.stream_wait_event(to, consumer, event));
        w.enqueue();
        check_waits(t, g, stream_wait(t, consumer, to), {&w});
    }
}

HAL_CASE("45079.T3.stream_wait_event.life.destroy_event_after_wait", clauses{"45079/T3.6", "45079/T4.2"}, authority::A,
         needs{E::stream_wait_event, handover(), any_work, a_gate})
(Test& t) {
    const hal_stream producer = t.stream();
    const hal_stream consumer = t.stream();
    hal_event event = nullptr;
    t.ok(t.api.create_event(0, nullptr, &event));
    Work& w = t.work(consumer);
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.api.stream_wait_event(0, consumer, event));
    w.enqueue();
    t.ok(t.returns([&] { return t.api.destroy_event(0, event); }, g));
    check_waits(t, g, stream_wait(t, consumer), {&w});
}

HAL_CASE("45079.T3.stream_wait_event.life.destroy_producer", clauses{"45079/T3.6", "45079/T3.2"}, authority::A,
         needs{E::stream_wait_event, handover(), E::destroy_stream, any_work, a_gate})
(Test& t) {
    hal_stream producer = nullptr;
    t.ok(t.api.create_stream(0, nullptr, &producer));
    const hal_stream consumer = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(consumer);
    const Gate g = t.gate(producer);
    t.ok(t.api.record_event(0, producer, event));
    t.ok(t.api.stream_wait_event(0, consumer, event));
    w.enqueue();
    Helper destroy = t.blocks([&] { return t.api.destroy_stream(0, producer); }, g);
    g.open();
    t.ok(destroy.status());
    t.ok(t.api.synchronize_stream(0, consumer, HAL_NO_TIMEOUT));
    w.expect_done();
}

}  // namespace
}  // namespace hal::conformance

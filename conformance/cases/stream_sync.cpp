// Table 3: synchronize_stream. Waits for what was enqueued before the call, for its own stream only.
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T3.synchronize_stream.norm.idle", clauses{"45079/T3.4"}, authority::S, needs{E::synchronize_stream})
(Test& t) {
    const hal_stream s = t.stream();
    for (int i = 0; i < 1000; ++i) {
        t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
    }
    t.ok(t.api.synchronize_stream(0, s, 0), "an idle stream is in time for any limit");
    t.ok(t.api.synchronize_stream(0, nullptr, HAL_NO_TIMEOUT), "the default stream");
}

HAL_CASE("45079.T3.synchronize_stream.order.blocks_while_gate_closed", clauses{"45079/T3.4", "45280/5.3.1"},
         authority::S, needs{E::synchronize_stream, a_gate}, work_sources())
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        Work& w = t.work(s);
        const Gate g = t.gate(s);
        w.enqueue();
        check_waits(t, g, stream_wait(t, s), {&w});
    }
}

HAL_CASE("45079.T3.synchronize_stream.order.all_prior", clauses{"45079/T3.4"}, authority::S,
         needs{E::synchronize_stream, memory_io(), E::async_memory_copy_d2h})
(Test& t) {
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 1000);
    HostBuffer& to = t.host(1000);
    for (uint64_t i = 0; i < 1000; ++i) {
        t.ok(t.api.async_memory_copy_d2h(0, s, to.data() + i, from.ptr + i, 1));
    }
    t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
    t.expect(to, pattern, "1,000 copies of one byte");
    if (!t.facts.has(E::stream_add_callback)) {
        return;
    }
    // Two gates in a row: when the first opens, something that was enqueued before the wait is complete, and not all.
    const Gate first = t.gate(s);
    const Gate second(t.limits.gate_hold);
    second.leak();
    t.ok(t.api.stream_add_callback(0, s, &Gate::callback, second.argument()));
    Helper wait = t.blocks([&] { return t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT); }, first);
    first.open();
    if (t.check(second.wait_entered(t.limits.callback_entry), "the second callback runs")) {
        const bool returned = wait.returned_within(t.limits.closed_look);
        t.check(!returned || second.expired(), "the wait is for all prior work, not for some of it");
    }
    second.open();
    t.ok(wait.status());
}

HAL_CASE("45079.T3.synchronize_stream.order.ready_after", clauses{"45079/T3.4"}, authority::D,
         needs{E::synchronize_stream, E::query_stream, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    w.enqueue();
    t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
    t.ok(t.api.query_stream(0, s, nullptr), "query after the wait");
    w.expect_done();
}

HAL_CASE("45079.T3.synchronize_stream.conc.many_waiters", clauses{"45079/T3.4"}, authority::D,
         needs{E::synchronize_stream, free_streams, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const Gate g = t.gate(s);
    check_many_wait(t, g, stream_wait(t, s));
}

HAL_CASE("45079.T3.synchronize_stream.fault.timeout_code", clauses{"45280/7.1", "45079/T3.4"}, authority::A,
         needs{E::synchronize_stream, any_work, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const Gate g = t.gate(s);
    w.enqueue();
    check_gives_up(t, g, [&](uint64_t limit_ns) { return t.api.synchronize_stream(0, s, limit_ns); });
    w.expect_not_begun();
    g.open();
    t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
    w.expect_done();
}

HAL_CASE("45079.T3.synchronize_stream.norm.null_stream", clauses{"45079/T3.4"}, authority::A,
         needs{E::synchronize_stream, any_work, a_gate})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    Work& w = t.work(nullptr, dev);
    const Gate g = t.gate(nullptr, dev);
    w.enqueue();
    check_waits(t, g, stream_wait(t, nullptr, dev), {&w});
}

HAL_CASE("45079.T3.synchronize_stream.order.only_this_stream", clauses{"45079/T3.4"}, authority::Q,
         needs{E::synchronize_stream, E::create_stream, a_gate})
(Test& t) {
    const hal_stream held = t.stream();
    const hal_stream idle = t.stream();
    const Gate g = t.gate(held);
    t.ok(t.returns(stream_wait(t, idle), g));
    t.ok(t.returns(stream_wait(t, nullptr), g));
    g.open();
}

// To wait for a stream is to wait for what it waits for.
HAL_CASE("45079.T3.synchronize_stream.order.after_wait_event", clauses{"45079/T3.4", "45079/T3.6"}, authority::D,
         needs{E::synchronize_stream, handover(), a_gate}, work_sources())
(Test& t) {
    const Handover pair = make_handover(t);
    Work& w = t.work(pair.producer);
    const Gate g = t.gate(pair.producer);
    w.enqueue();
    hand_over(t, pair);
    check_waits(t, g, stream_wait(t, pair.consumer), {&w});
}

// Another thread goes on enqueuing: the wait is for what there was when it began.
HAL_CASE("45079.T3.synchronize_stream.conc.enqueue_meanwhile", clauses{"45079/T3.4"}, authority::D,
         needs{E::synchronize_stream, E::record_event, E::create_event, any_work, free_streams, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(s);
    const Gate g = t.gate(s);
    w.enqueue();
    Helper wait = t.blocks(stream_wait(t, s), g);
    g.open();
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) {
            t.ok(t.api.record_event(0, s, event));
            std::this_thread::sleep_for(std::chrono::microseconds(50));  // bounds the rate; nothing depends on it
        }
    });
    t.check(wait.returned_within(t.limits.finish), "the wait ends while work keeps coming");
    stop = true;
    other.join();
    t.ok(wait.status());
    w.expect_done();
}

}  // namespace
}  // namespace hal::conformance

// Table 4: what an event waits for, and when. Every case holds a stream with a gate.
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T4.record_event.order.after_prior_work", clauses{"45079/T4.3", "45280/5.3.4"}, authority::S,
         needs{E::record_event, event_io(), a_gate}, work_sources())
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        Work& w = t.work(s);
        const hal_event event = t.event();
        const Gate g = t.gate(s);
        w.enqueue();
        t.ok(t.api.record_event(0, s, event));
        check_waits(t, g, event_wait(t, event), {&w});
    }
}

HAL_CASE("45079.T4.record_event.order.not_early", clauses{"45079/T4.3"}, authority::S,
         needs{E::record_event, event_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.returns([&] { return t.api.record_event(0, s, event); }, g));
    t.refused_behind(g, HAL_ERROR_TIMEOUT, [&] { return t.api.synchronize_event(0, event, 0); });
    g.open();
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.T4.record_event.order.rerecord_moves", clauses{"45079/T4.3"}, authority::D,
         needs{E::record_event, event_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, s, event));
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    check_waits(t, g, event_wait(t, event));
}

HAL_CASE("45079.T4.record_event.order.two_streams", clauses{"45079/T4.3"}, authority::D,
         needs{E::record_event, event_io(), a_gate, E::create_stream})
(Test& t) {
    const hal_stream first = t.stream();
    const hal_stream second = t.stream();
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, first, event));
    const Gate g = t.gate(second);
    t.ok(t.api.record_event(0, second, event));
    check_waits(t, g, event_wait(t, event));
}

HAL_CASE("45079.T4.query_event.order.not_ready_while_gate_closed", clauses{"45079/T4.4"}, authority::S,
         needs{E::query_event, event_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    t.eq(HAL_NOT_READY, t.returns([&] { return t.api.query_event(0, event); }, g), "status behind a closed gate");
    g.open();
    t.ok(t.poll([&] { return t.api.query_event(0, event); }));
}

HAL_CASE("45079.T4.query_event.order.ready_implies_data", clauses{"45079/T4.4"}, authority::D,
         needs{E::query_event, E::create_event, E::record_event, memory_io(), E::async_memory_copy_d2h})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 30'011);
    HostBuffer& to = t.host(from.size);
    for (int i = 0; i < 200; ++i) {
        to.repoison();
        t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), from.ptr, from.size));
        t.ok(t.api.record_event(0, s, event));
        t.ok(t.poll([&] { return t.api.query_event(0, event); }));
        t.expect(to, pattern, "data when the query says ready");
    }
}

HAL_CASE("45079.T4.synchronize_event.order.blocks_while_gate_closed", clauses{"45079/T4.5", "45280/5.3.1"},
         authority::S, needs{E::synchronize_event, event_io(), a_gate}, work_sources())
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    w.enqueue();
    t.ok(t.api.record_event(0, s, event));
    check_waits(t, g, event_wait(t, event), {&w});
}

HAL_CASE("45079.T4.synchronize_event.order.only_up_to_record", clauses{"45079/T4.5"}, authority::D,
         needs{E::synchronize_event, event_io(), a_gate, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const hal_event event = t.event();
    w.enqueue();
    t.ok(t.api.record_event(0, s, event));
    const Gate g = t.gate(s);
    t.ok(t.returns([&] { return t.api.synchronize_event(0, event, HAL_NO_TIMEOUT); }, g));
    g.open();
    w.expect_done();
}

HAL_CASE("45079.T4.synchronize_event.order.cross_thread", clauses{"45079/T4.5"}, authority::D,
         needs{E::synchronize_event, event_io(), a_gate, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.threads(1, [&](int) {
        w.enqueue();
        t.ok(t.api.record_event(0, s, event));
    });
    check_waits(t, g, event_wait(t, event), {&w});
}

HAL_CASE("45079.T4.synchronize_event.conc.many_waiters", clauses{"45079/T4.5"}, authority::D,
         needs{E::synchronize_event, event_io(), free_threads, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    check_many_wait(t, g, event_wait(t, event));
}

HAL_CASE("45079.T4.synchronize_event.fault.timeout_code", clauses{"45280/7.1", "45079/T4.5"}, authority::A,
         needs{E::synchronize_event, event_io(), a_gate, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    w.enqueue();
    t.ok(t.api.record_event(0, s, event));
    check_gives_up(t, g, [&](uint64_t limit_ns) { return t.api.synchronize_event(0, event, limit_ns); });
    w.expect_not_begun();
    g.open();
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    w.expect_done();
}

HAL_CASE("45079.T4.destroy_event.life.recorded_pending", clauses{"45079/T4.2"}, authority::A,
         needs{E::destroy_event, event_io(), a_gate, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    hal_event event = nullptr;
    t.ok(t.api.create_event(0, nullptr, &event));
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    w.enqueue();
    t.ok(t.returns([&] { return t.api.destroy_event(0, event); }, g));
    g.open();
    t.sync(s);
    w.expect_done();
}

HAL_CASE("45079.T4.destroy_event.life.handle_reuse", clauses{"45079/T4.2"}, authority::D,
         needs{E::destroy_event, event_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const Gate g = t.gate(s);
    for (int i = 0; i < 100; ++i) {
        hal_event old = nullptr;
        hal_event fresh = nullptr;
        t.ok(t.api.create_event(0, nullptr, &old));
        t.ok(t.api.record_event(0, s, old));
        t.ok(t.api.destroy_event(0, old));
        t.ok(t.api.create_event(0, nullptr, &fresh));
        t.ok(t.api.synchronize_event(0, fresh, 0),
             "a new event is complete, whatever the last one with its handle was");
        t.ok(t.api.destroy_event(0, fresh));
    }
    g.open();
    t.sync(s);
}

// With the stream held: an enqueue is not a wait.
HAL_CASE("45079.T4.record_event.norm.returns_at_once", clauses{"45079/T4.3", "45280/5.3.1"}, authority::Q,
         needs{E::record_event, event_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.returns(
        [&] {
            hal_status status = HAL_OK;
            for (int i = 0; i < 100 && status == HAL_OK; ++i) {
                status = t.api.record_event(0, s, event);
            }
            return status;
        },
        g));
    g.open();
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.T4.query_event.norm.never_blocks", clauses{"45079/T4.4"}, authority::A,
         needs{E::query_event, event_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    t.eq(HAL_NOT_READY,
         t.returns(
             [&] {
                 hal_status status = HAL_NOT_READY;
                 for (int i = 0; i < 1000 && status == HAL_NOT_READY; ++i) {
                     status = t.api.query_event(0, event);
                 }
                 return status;
             },
             g),
         "status of 1,000 queries behind a closed gate");
    g.open();
    t.ok(t.poll([&] { return t.api.query_event(0, event); }));
}

// Several records: the wait is for the newest one.
HAL_CASE("45079.T4.synchronize_event.order.rerecord", clauses{"45079/T4.5", "45079/T4.3"}, authority::D,
         needs{E::synchronize_event, event_io(), E::create_stream, any_work, a_gate})
(Test& t) {
    const hal_stream first = t.stream();
    const hal_stream second = t.stream();
    const hal_event event = t.event();
    Work& early = t.work(first);
    Work& late = t.work(second);
    early.enqueue();
    for (int i = 0; i < 10; ++i) {
        t.ok(t.api.record_event(0, first, event));
    }
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    early.expect_done();
    const Gate g = t.gate(second);
    t.ok(t.api.record_event(0, first, event));
    late.enqueue();
    t.ok(t.api.record_event(0, second, event));
    check_waits(t, g, event_wait(t, event), {&late});
}

HAL_CASE("45079.T4.synchronize_event.norm.cpu_use", clauses{"45079/T4.5"}, authority::Q,
         needs{E::synchronize_event, event_io(), E::stream_add_callback}, cls::medium)
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    std::atomic<int64_t> used_ns{0};
    const auto cpu_now = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return now.tv_sec * 1'000'000'000 + now.tv_nsec;
    };
    const auto begin = Gate::Clock::now();
    Helper wait([&] {
        const int64_t before = cpu_now();
        const hal_status status = t.api.synchronize_event(0, event, HAL_NO_TIMEOUT);
        used_ns = cpu_now() - before;
        return status;
    });
    t.check(!wait.returned_within(std::chrono::seconds(1)) || !g.surely_closed(), "the call waits");
    g.open();
    t.ok(wait.status());
    const auto waited_ns = std::chrono::nanoseconds(Gate::Clock::now() - begin).count();
    t.metric("cpu_of_wait", static_cast<double>(used_ns) / static_cast<double>(waited_ns), "of a core");
    t.le(used_ns.load(), waited_ns / 2, "nanoseconds of processor time in a wait");
}

}  // namespace
}  // namespace hal::conformance

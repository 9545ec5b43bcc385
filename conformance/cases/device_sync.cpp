// Table 1: synchronize_device.
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T1.synchronize_device.edge.idle", clauses{"45079/T1.7"}, authority::S, needs{E::synchronize_device})
(Test& t) {
    for (int i = 0; i < 1000; ++i) {
        t.ok(t.api.synchronize_device(i % t.facts.device_count, HAL_NO_TIMEOUT));
    }
    t.ok(t.api.synchronize_device(0, 0), "an idle device is in time for any limit");
}

HAL_CASE("45079.T1.synchronize_device.order.blocks_until_done", clauses{"45079/T1.7", "45280/5.3.1"}, authority::S,
         needs{E::synchronize_device, a_gate}, work_sources())
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const Gate g = t.gate(s);
    w.enqueue();
    check_waits(t, g, device_wait(t), {&w});
}

HAL_CASE("45079.T1.synchronize_device.order.all_streams", clauses{"45079/T1.7"}, authority::S,
         needs{E::synchronize_device, E::create_stream, a_gate})
(Test& t) {
    std::vector<hal_stream> streams;
    for (int i = 0; i < 5; ++i) {
        streams.push_back(t.stream());
    }
    for (const hal_stream s : {streams[4], streams[2], streams[0], hal_stream{nullptr}}) {
        const Gate g = t.gate(s);
        check_waits(t, g, device_wait(t));
    }
}

HAL_CASE("45079.T1.synchronize_device.order.right_device", clauses{"45079/T1.7"}, authority::S,
         needs{E::synchronize_device, E::set_device, a_gate, devices(2)})
(Test& t) {
    const Gate g = t.gate(nullptr, 0);
    Helper wait = t.blocks(
        [&] {
            const hal_status status = t.api.set_device(1);
            return status == HAL_OK ? t.api.synchronize_device(0, HAL_NO_TIMEOUT) : status;
        },
        g);
    g.open();
    t.ok(wait.status());
}

HAL_CASE("45079.T1.synchronize_device.order.other_devices_not_needed", clauses{"45079/T1.7"}, authority::Q,
         needs{E::synchronize_device, a_gate, devices(2)})
(Test& t) {
    const Gate g = t.gate(nullptr, 1);
    t.ok(t.returns([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, g));
    g.open();
}

HAL_CASE("45079.T1.synchronize_device.order.callbacks_done", clauses{"45079/T1.7"}, authority::D,
         needs{E::synchronize_device, E::stream_add_callback})
(Test& t) {
    auto& count = t.keep<Count>();
    const hal_stream s = t.stream();
    for (int i = 0; i < 1000; ++i) {
        t.ok(t.api.stream_add_callback(0, s, &Count::up, &count));
    }
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    t.eq(1000, count.calls.load(), "callbacks that have run");
}

HAL_CASE("45079.T1.synchronize_device.conc.many_waiters", clauses{"45079/T1.7"}, authority::D,
         needs{E::synchronize_device, a_gate, free_threads})
(Test& t) {
    check_many_wait(t, t.gate(t.stream()), device_wait(t));
}

HAL_CASE("45079.T1.synchronize_device.conc.enqueue_during_sync", clauses{"45079/T1.7"}, authority::D,
         needs{E::synchronize_device, E::record_event, E::create_event, any_work, free_threads})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(s);
    w.enqueue();
    std::atomic<bool> stop{false};
    std::thread other([&] {
        while (!stop) {
            t.ok(t.api.record_event(0, s, event));
            std::this_thread::sleep_for(std::chrono::microseconds(50));  // bounds the rate; nothing depends on it
        }
    });
    t.ok(t.api.synchronize_device(0, static_cast<uint64_t>(std::chrono::nanoseconds(t.limits.finish).count())));
    stop = true;
    other.join();
    w.expect_done();
}

HAL_CASE("45079.T1.synchronize_device.fault.timeout_code", clauses{"45280/7.1", "45079/T1.7"}, authority::A,
         needs{E::synchronize_device, any_work, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const Gate g = t.gate(s);
    w.enqueue();
    check_gives_up(t, g, [&](uint64_t limit_ns) { return t.api.synchronize_device(0, limit_ns); });
    w.expect_not_begun();
    g.open();
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    w.expect_done();
}

}  // namespace
}  // namespace hal::conformance

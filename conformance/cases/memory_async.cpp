// Table 2: asynchronous copies. In stream order, behind the gate, complete when the stream, the event or the device
// says so.
#include "async_copy.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t sizes[] = {1, 3, 8, 63, 64, 65, 257, 4097, 65537, (1U << 20U) + 1, (16U << 20U) + 13};

// After the stream, after an event, after the device: three ways of knowing.
void check_full(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    for (const uint64_t size : sizes) {
        const auto in = t.context("size", size);
        for (int way = 0; way < (size > 1'000'000 ? 1 : 3); ++way) {
            const Sides sides = prepare(t, copy, size);
            t.ok(start(t, copy, sides, s));
            if (way == 0) {
                t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
            } else if (way == 1) {
                t.ok(t.api.record_event(0, s, event));
                t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
            } else {
                t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
            }
            expect_arrived(t, copy, sides);
        }
    }
}

// While the gate is closed the call returns and the destination keeps its poison.
void check_behind_gate(Test& t, const Copy& copy) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        const Sides sides = prepare(t, copy, 4099);
        const Gate g = t.gate(s);
        t.ok(t.returns([&] { return start(t, copy, sides, s); }, g));
        if (copy.host_target) {
            t.expect_unwritten(*sides.host, g);
        } else {
            t.expect_unwritten(*sides.to, g);
        }
        g.open();
        t.sync(s);
        expect_arrived(t, copy, sides);
    }
}

HAL_CASE("45079.T2.async_memory_copy_h2d.norm.full", clauses{"45079/T2.11"}, authority::S,
         needs{E::async_memory_copy_h2d, memory_io(), three_ways()})
(Test& t) {
    check_full(t, h2d);
}
HAL_CASE("45079.T2.async_memory_copy_d2h.norm.full", clauses{"45079/T2.12"}, authority::S,
         needs{E::async_memory_copy_d2h, memory_io(), three_ways()})
(Test& t) {
    check_full(t, d2h);
}
HAL_CASE("45079.T2.async_memory_copy_d2d.norm.full", clauses{"45079/T2.13"}, authority::S,
         needs{E::async_memory_copy_d2d, memory_io(), three_ways()})
(Test& t) {
    check_full(t, d2d);
}
HAL_CASE("45079.T2.async_memory_copy_p2p.norm.full", clauses{"45079/T2.14"}, authority::S,
         needs{E::async_memory_copy_p2p, memory_io(), three_ways(), devices(2)})
(Test& t) {
    check_full(t, p2p);
}

HAL_CASE("45079.T2.async_memory_copy_h2d.order.not_before_gate", clauses{"45079/T2.11", "45280/5.3.1"}, authority::D,
         needs{E::async_memory_copy_h2d, memory_io(), a_gate})
(Test& t) {
    check_behind_gate(t, h2d);
}
HAL_CASE("45079.T2.async_memory_copy_d2h.order.not_before_gate", clauses{"45079/T2.12", "45280/5.3.1"}, authority::D,
         needs{E::async_memory_copy_d2h, memory_io(), a_gate})
(Test& t) {
    check_behind_gate(t, d2h);
}
HAL_CASE("45079.T2.async_memory_copy_d2d.order.not_before_gate", clauses{"45079/T2.13", "45280/5.3.1"}, authority::D,
         needs{E::async_memory_copy_d2d, memory_io(), a_gate})
(Test& t) {
    check_behind_gate(t, d2d);
}
HAL_CASE("45079.T2.async_memory_copy_p2p.order.not_before_gate", clauses{"45079/T2.14", "45280/5.3.1"}, authority::D,
         needs{E::async_memory_copy_p2p, memory_io(), a_gate, devices(2)})
(Test& t) {
    check_behind_gate(t, p2p);
}

HAL_CASE("45079.T2.async_memory_copy_d2d.order.chain", clauses{"45079/T2.13"}, authority::D,
         needs{E::async_memory_copy_d2d, memory_io()})
(Test& t) {
    // Byte i comes from byte i - 1: only if each of 10,000 copies waits for the one before it does the first byte
    // arrive.
    constexpr uint64_t links = 10'000;
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, links + 1);
    for (uint64_t i = 1; i <= links; ++i) {
        t.ok(t.api.async_memory_copy_d2d(0, s, buffer.ptr + i, buffer.ptr + i - 1, 1));
    }
    t.sync(s);
    t.expect(buffer, pattern.at(0), "the first byte through the whole chain");
}

HAL_CASE("45079.T2.async_memory_copy_p2p.order.event_orders_reader", clauses{"45079/T2.14", "45280/5.3.4"},
         authority::D,
         needs{E::async_memory_copy_p2p, E::async_memory_copy_d2h, E::stream_wait_event, memory_io(), three_ways(),
               a_gate, devices(2)})
(Test& t) {
    const hal_stream source = t.stream(0);
    const hal_stream reader = t.stream(1);
    const hal_event event = t.event(0);
    const Sides sides = prepare(t, p2p, 50'021);
    HostBuffer& back = t.host(50'021);
    const Gate g = t.gate(source, 0);
    t.ok(start(t, p2p, sides, source));
    t.ok(t.api.record_event(0, source, event));
    t.ok(t.api.stream_wait_event(1, reader, event));
    t.ok(t.api.async_memory_copy_d2h(1, reader, back.data(), sides.to->ptr, 50'021));
    Helper wait = t.blocks([&] { return t.api.synchronize_stream(1, reader, HAL_NO_TIMEOUT); }, g);
    g.open();
    t.ok(wait.status());
    t.expect(back, sides.pattern, "what the other device reads behind the event");
}

}  // namespace
}  // namespace hal::conformance

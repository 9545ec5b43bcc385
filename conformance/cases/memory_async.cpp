// Table 2: asynchronous copies. In stream order, behind the gate, complete when the stream, the event or the device
// says so.
#include <barrier>

#include "harness/test.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t sizes[] = {1, 3, 8, 63, 64, 65, 257, 4097, 65537, (1U << 20U) + 1, (16U << 20U) + 13};

// The four directions in one form: both sides have `size` bytes, the destination is poisoned, the source has the
// pattern.
struct Copy {
    const char* name;
    bool host_source;
    bool host_target;
    bool across;  // to another device
};

struct Sides {
    HostBuffer* host = nullptr;
    DeviceBuffer* from = nullptr;
    DeviceBuffer* to = nullptr;
    Pattern pattern;
    uint64_t size = 0;
    hal_dev target_dev = 0;
};

Sides prepare(Test& t, const Copy& copy, uint64_t size) {
    Sides sides;
    sides.pattern = t.pattern();
    sides.size = size;
    sides.target_dev = copy.across ? 1 : 0;
    if (copy.host_source || copy.host_target) {
        sides.host = copy.host_source ? &t.host(sides.pattern, size) : &t.host(size);
    }
    if (!copy.host_source) {
        sides.from = &t.device(sides.pattern, size);
    }
    if (!copy.host_target) {
        sides.to = &t.device(size, sides.target_dev);
    }
    return sides;
}

hal_status start(Test& t, const Copy& copy, const Sides& s, hal_stream stream) {
    if (copy.host_source) {
        return t.api.async_memory_copy_h2d(0, stream, s.to->ptr, s.host->data(), s.size);
    }
    if (copy.host_target) {
        return t.api.async_memory_copy_d2h(0, stream, s.host->data(), s.from->ptr, s.size);
    }
    if (copy.across) {
        return t.api.async_memory_copy_p2p(1, s.to->ptr, 0, s.from->ptr, stream, s.size);
    }
    return t.api.async_memory_copy_d2d(0, stream, s.to->ptr, s.from->ptr, s.size);
}

void expect_arrived(Test& t, const Copy& copy, const Sides& s) {
    if (copy.host_target) {
        t.expect(*s.host, s.pattern, "the destination");
    } else {
        t.expect(*s.to, s.pattern, "the destination");
    }
}

constexpr Copy h2d{"h2d", true, false, false};
constexpr Copy d2h{"d2h", false, true, false};
constexpr Copy d2d{"d2d", false, false, false};
constexpr Copy p2p{"p2p", false, false, true};

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

const NeedGroup& three_ways() {
    static const NeedGroup group{E::synchronize_stream, E::create_event, E::record_event, E::synchronize_event,
                                 E::synchronize_device};
    return group;
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

HAL_CASE("45079.T2.async_memory_copy_d2d.order.in_stream", clauses{"45079/T2.13"}, authority::S,
         needs{E::async_memory_copy_d2d, E::async_memory_copy_h2d, memory_io(), a_gate})
(Test& t) {
    constexpr uint64_t size = 100'003;
    const hal_stream s = t.stream();
    const Pattern first = t.pattern();
    const Pattern second = t.pattern();
    HostBuffer& a = t.host(first, size);
    HostBuffer& b = t.host(second, size);
    const DeviceBuffer& x = t.device(size);
    const DeviceBuffer& y = t.device(size);
    const Gate g = t.gate(s);
    t.ok(t.api.async_memory_copy_h2d(0, s, x.ptr, a.data(), size));
    t.ok(t.api.async_memory_copy_d2d(0, s, y.ptr, x.ptr, size));
    t.ok(t.api.async_memory_copy_h2d(0, s, x.ptr, b.data(), size));
    g.open();
    t.sync(s);
    t.expect(y, first, "y took x before it was overwritten");
    t.expect(x, second, "x after the second copy");
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

HAL_CASE("45079.T2.async_memory_copy_h2d.conc.two_threads_one_stream", clauses{"45079/T2.11"}, authority::A,
         needs{E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    // Many rounds that each end with one copy of each thread: a copy that is enqueued in pieces is torn in some of
    // them.
    constexpr uint64_t size = 10'001;
    constexpr int rounds = 300;
    const hal_stream s = t.stream();
    const DeviceBuffer& to = t.device(size);
    const Pattern patterns[] = {t.pattern(), t.pattern()};
    HostBuffer* sources[] = {&t.host(patterns[0], size), &t.host(patterns[1], size)};
    HostBuffer& back = t.host(size);
    std::barrier turn(2);
    t.threads(2, [&](int thread) {
        for (int round = 0; round < rounds; ++round) {
            turn.arrive_and_wait();
            t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, sources[thread]->data(), size));
            turn.arrive_and_wait();
            if (thread == 0) {
                t.sync(s);
                t.ok(t.api.memory_copy_d2h(0, back.data(), to.ptr, size));
                t.check(!compare(back.data(), patterns[0], size) || !compare(back.data(), patterns[1], size),
                        "one whole copy of the two, never a mixture");
            }
        }
    });
}

HAL_CASE("45079.T2.async_memory_copy_d2h.conc.streams8", clauses{"45079/T2.12"}, authority::D,
         needs{E::async_memory_copy_d2h, E::synchronize_stream, memory_io()})
(Test& t) {
    std::vector<hal_stream> streams;
    std::vector<Sides> all;
    for (int i = 0; i < 8; ++i) {
        streams.push_back(t.stream());
        all.push_back(prepare(t, d2h, 200'003));
    }
    t.threads(8, [&](int thread) {
        const auto i = static_cast<size_t>(thread);
        for (int round = 0; round < 20; ++round) {
            all[i].host->repoison();
            t.ok(start(t, d2h, all[i], streams[i]));
            t.ok(t.api.synchronize_stream(0, streams[i], HAL_NO_TIMEOUT));
            expect_arrived(t, d2h, all[i]);
        }
    });
}

HAL_CASE("45079.T2.async_memory_copy_h2d.life.host_buffer_reused_after_sync", clauses{"45079/T2.11"}, authority::D,
         needs{E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    constexpr uint64_t size = 5003;
    const hal_stream s = t.stream();
    HostBuffer& source = t.host(size);
    const DeviceBuffer& to = t.device(size);
    for (int i = 0; i < 100; ++i) {
        const Pattern pattern = t.pattern();
        source.write(pattern);
        t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, source.data(), size));
        t.sync(s);
        source.repoison();
        t.expect(to, pattern, "data after the source was reused");
    }
}

}  // namespace
}  // namespace hal::conformance

// Table 2: asynchronous copies, each direction in the same cases: what orders them, who may enqueue, what may go.
#include <barrier>

#include "async_copy.hpp"
#include "waits.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t size = 50'021;

// An event recorded behind the copy covers it, and is not complete before.
void check_event_covers(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Sides sides = prepare(t, copy, size);
    const Gate g = t.gate(s);
    t.ok(start(t, copy, sides, s));
    t.ok(t.api.record_event(0, s, event));
    check_waits(t, g, event_wait(t, event));
    expect_arrived(t, copy, sides);
}

// Another stream waits for the event and hands the data on; the host waits for that one alone.
void check_cross_stream(Test& t, const Copy& copy) {
    const Handover pair = make_handover(t);
    Sides sides = prepare(t, copy, size);
    HostBuffer& back = t.host(size);
    for (int i = 0; i < 5; ++i) {
        renew(t, copy, sides);
        back.repoison();
        const Gate g = t.gate(pair.producer);
        t.ok(start(t, copy, sides, pair.producer));
        hand_over(t, pair);
        if (!copy.host_target && !copy.across) {
            t.ok(t.api.async_memory_copy_d2h(0, pair.consumer, back.data(), sides.to->ptr, size));
        }
        check_waits(t, g, stream_wait(t, pair.consumer));
        if (!copy.host_target && !copy.across) {
            t.expect(back, sides.pattern, "what the waiting stream read");
        }
        expect_arrived(t, copy, sides);
    }
}

// x <- A, y <- x, x <- B on one stream: y must be A and x must be B. Where the stream cannot read x, the last copy
// wins.
void check_in_stream(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    const Sides first = prepare(t, copy, size);
    Sides second = first;
    second.pattern = t.pattern();
    HostBuffer& y = t.host(size);
    if (copy.host_source) {
        second.host = &t.host(second.pattern, size);
    } else {
        second.from = &t.device(second.pattern, size);
    }
    const Gate g = t.gate(s);
    t.ok(start(t, copy, first, s));
    const bool readable = !copy.host_target && !copy.across;  // by this stream
    if (readable) {
        t.ok(t.api.async_memory_copy_d2h(0, s, y.data(), first.to->ptr, size));
    }
    t.ok(start(t, copy, second, s));
    g.open();
    t.sync(s);
    if (readable) {
        t.expect(y, first.pattern, "y took x before it was overwritten");
    }
    expect_arrived(t, copy, second);
}

// Thousands of copies in flight on one stream, each overwriting the last: the end is the last one's.
void check_chain(Test& t, const Copy& copy) {
    constexpr int links = 10'000;
    constexpr uint64_t small = 64;
    const hal_stream s = t.stream();
    const Sides last = prepare(t, copy, small);
    Sides others = last;
    if (copy.host_source) {
        others.host = &t.host(t.pattern(), small);
    } else {
        others.from = &t.device(t.pattern(), small);
    }
    for (int i = 0; i < links; ++i) {
        t.ok(start(t, copy, others, s));
    }
    t.ok(start(t, copy, last, s));
    t.sync(s);
    expect_arrived(t, copy, last);
}

// With page-locked memory where the plug-in has it: enqueueing takes no longer than the look at a closed gate.
void check_returns_at_once(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    Sides sides = prepare(t, copy, 4U << 20U);
    const Gate g = t.gate(s);
    t.ok(t.returns([&] { return start(t, copy, sides, s); }, g));
    g.open();
    t.sync(s);
    expect_arrived(t, copy, sides);
    // Without a gate too: the call takes a small part of the copy's own time.
    renew(t, copy, sides);
    const auto begin = std::chrono::steady_clock::now();
    t.ok(start(t, copy, sides, s));
    const auto enqueued = std::chrono::steady_clock::now();
    t.sync(s);
    const auto ended = std::chrono::steady_clock::now();
    t.metric("part of the copy's time that the call took",
             std::chrono::duration<double>(enqueued - begin) / std::chrono::duration<double>(ended - begin), "");
    expect_arrived(t, copy, sides);
}

void check_pageable(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    Sides sides = prepare(t, copy, size);
    for (int i = 0; i < 20; ++i) {
        renew(t, copy, sides);
        t.ok(start(t, copy, sides, s));
        t.sync(s);
        expect_arrived(t, copy, sides);
    }
}

void check_null_stream(Test& t, const Copy& copy) {
    Sides sides = prepare(t, copy, size);
    for (int i = 0; i < 20; ++i) {
        renew(t, copy, sides);
        t.ok(start(t, copy, sides, nullptr));
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        expect_arrived(t, copy, sides);
    }
}

void check_stream_of_other_device(Test& t, const Copy& copy) {
    const hal_stream other = t.stream(1);
    const Sides sides = prepare(t, copy, 512);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return start(t, copy, sides, other); });
}

// 0 bytes are still work of the stream: an event behind them completes after what is before them.
void check_zero_ordered(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    Sides sides = prepare(t, copy, 512);
    sides.size = 0;
    const Gate g = t.gate(s);
    t.ok(start(t, copy, sides, s));
    t.ok(t.api.record_event(0, s, event));
    check_waits(t, g, event_wait(t, event));
}

bool whole(const uint8_t* bytes, const Sides& first, const Sides& second) {
    return !compare(bytes, first.pattern, first.size) || !compare(bytes, second.pattern, first.size);
}

// One thread writes the one and the other, another reads on the same stream: between two operations the destination is
// always whole, so that every read sees one of the two.
void check_reader(Test& t, const Copy& copy, const Sides& first, const Sides& second, hal_stream s) {
    std::vector<const HostBuffer*> reads;
    for (int i = 0; i < 256; ++i) {
        reads.push_back(&t.keep<HostBuffer>(first.size));
    }
    t.ok(start(t, copy, first, s));
    std::atomic<bool> read{false};
    std::atomic<uint64_t> written{0};
    t.threads(2, [&](int thread) {
        for (int i = 0; thread == 0 && !read; ++i) {
            t.ok(start(t, copy, i % 2 == 0 ? second : first, s));
            ++written;
        }
        uint64_t seen = 0;
        for (size_t i = 0; thread == 1 && i < reads.size(); ++i) {
            for (; written == seen;) {
                std::this_thread::yield();  // a read for each write at most: they take turns on a busy machine too
            }
            seen = written;
            t.ok(t.api.async_memory_copy_d2h(0, s, reads[i]->data(), first.to->ptr, first.size));
        }
        read = read || thread == 1;
    });
    t.sync(s);
    for (const HostBuffer* one : reads) {
        t.check(whole(one->data(), first, second), "one whole copy of the two, read in between");
    }
}

// Two threads that both write, in many rounds: the end of each is one whole copy.
void check_two_writers(Test& t, const Copy& copy, const Sides& first, const Sides& second, hal_stream s) {
    constexpr int rounds = 200;
    const HostBuffer back(first.size);
    std::barrier turn(2);
    t.threads(2, [&](int thread) {
        for (int round = 0; round < rounds; ++round) {
            turn.arrive_and_wait();
            t.ok(start(t, copy, thread == 0 ? first : second, s));
            turn.arrive_and_wait();
            if (thread == 0) {
                t.sync(s);
                if (!copy.host_target) {
                    t.ok(t.api.memory_copy_d2h(first.target_dev, back.data(), first.to->ptr, first.size));
                }
                t.check(whole(copy.host_target ? first.host->data() : back.data(), first, second),
                        "one whole copy of the two, never a mixture");
            }
        }
    });
}

void check_two_threads(Test& t, const Copy& copy) {
    constexpr uint64_t torn = 10'001;
    const hal_stream s = t.stream();
    const Sides first = prepare(t, copy, torn);
    Sides second = first;
    second.pattern = t.pattern();
    if (copy.host_source) {
        second.host = &t.host(second.pattern, torn);
    } else {
        second.from = &t.device(second.pattern, torn);
    }
    check_two_writers(t, copy, first, second, s);
    if (!copy.host_target && !copy.across && t.facts.has(E::async_memory_copy_d2h)) {
        check_reader(t, copy, first, second, s);
    }
}

// Eight threads with streams of their own.
void check_streams8(Test& t, const Copy& copy) {
    std::vector<hal_stream> streams;
    std::vector<Sides> all;
    for (int i = 0; i < 8; ++i) {
        streams.push_back(t.stream());
        all.push_back(prepare(t, copy, 100'003));
    }
    t.threads(8, [&](int thread) {
        const auto i = static_cast<size_t>(thread);
        for (int round = 0; round < 20; ++round) {
            renew(t, copy, all[i]);
            t.ok(start(t, copy, all[i], streams[i]));
            t.ok(t.api.synchronize_stream(0, streams[i], HAL_NO_TIMEOUT));
            expect_arrived(t, copy, all[i]);
        }
    });
}

// Host memory is the caller's again once the stream is synchronised.
void check_host_reused(Test& t, const Copy& copy) {
    const hal_stream s = t.stream();
    Sides sides = prepare(t, copy, 5003);
    for (int i = 0; i < 100; ++i) {
        renew(t, copy, sides);
        t.ok(start(t, copy, sides, s));
        t.sync(s);
        if (copy.host_source) {
            sides.host->repoison();
        }
        expect_arrived(t, copy, sides);
        if (copy.host_target) {
            sides.host->repoison();
            t.expect(*sides.host, poison, "no later write to the destination");
        }
    }
}

// destroy_stream drains: what was enqueued has happened when it returns.
void check_destroy_pending(Test& t, const Copy& copy) {
    Sides sides = prepare(t, copy, 1U << 20U);
    for (int i = 0; i < 10; ++i) {
        hal_stream s = nullptr;
        renew(t, copy, sides);
        t.ok(t.api.create_stream(0, nullptr, &s));
        t.ok(start(t, copy, sides, s));
        t.ok(t.api.destroy_stream(0, s));
        expect_arrived(t, copy, sides);
    }
}

#define ASYNC(row, entry, copy, id, rights, check, ...)                                                               \
    HAL_CASE("45079.T2." #entry "." id, clauses{"45079/T2." #row}, rights, needs{E::entry, memory_io(), __VA_ARGS__}) \
    (Test & t) {                                                                                                      \
        check(t, copy);                                                                                               \
    }

#define ASYNC_CASES(row, entry, copy, ...)                                                                             \
    ASYNC(row, entry, copy, "order.event_covers", authority::S, check_event_covers, event_io(), a_gate, __VA_ARGS__)   \
    ASYNC(row, entry, copy, "order.cross_stream_wait", authority::S, check_cross_stream, handover(),                   \
          E::async_memory_copy_d2h, a_gate, __VA_ARGS__)                                                               \
    ASYNC(row, entry, copy, "order.in_stream", authority::S, check_in_stream, E::async_memory_copy_d2h, a_gate,        \
          __VA_ARGS__)                                                                                                 \
    ASYNC(row, entry, copy, "norm.returns_at_once", authority::Q, check_returns_at_once, a_gate, __VA_ARGS__)          \
    ASYNC(row, entry, copy, "norm.pageable", authority::A, check_pageable, __VA_ARGS__)                                \
    ASYNC(row, entry, copy, "norm.null_stream", authority::A, check_null_stream, E::synchronize_device, __VA_ARGS__)   \
    ASYNC(row, entry, copy, "err.stream_of_other_device", authority::A, check_stream_of_other_device,                  \
          E::create_stream, devices(2))                                                                                \
    ASYNC(row, entry, copy, "order.zero_is_ordered", authority::A, check_zero_ordered, event_io(), a_gate,             \
          __VA_ARGS__)                                                                                                 \
    ASYNC(row, entry, copy, "conc.two_threads_one_stream", authority::A, check_two_threads, free_streams, __VA_ARGS__) \
    ASYNC(row, entry, copy, "conc.streams8", authority::D, check_streams8, E::synchronize_stream, free_threads,        \
          __VA_ARGS__)                                                                                                 \
    ASYNC(row, entry, copy, "life.host_buffer_reused_after_sync", authority::D, check_host_reused, __VA_ARGS__)        \
    ASYNC(row, entry, copy, "life.destroy_stream_with_pending", authority::A, check_destroy_pending, E::create_stream, \
          E::destroy_stream, __VA_ARGS__)

ASYNC_CASES(11, async_memory_copy_h2d, h2d, E::async_memory_copy_h2d)
ASYNC_CASES(12, async_memory_copy_d2h, d2h, E::async_memory_copy_d2h)
ASYNC_CASES(13, async_memory_copy_d2d, d2d, E::async_memory_copy_d2d)
ASYNC_CASES(14, async_memory_copy_p2p, p2p, devices(2))
ASYNC(11, async_memory_copy_h2d, h2d, "order.chain", authority::D, check_chain, E::async_memory_copy_h2d)
ASYNC(12, async_memory_copy_d2h, d2h, "order.chain", authority::D, check_chain, E::async_memory_copy_d2h)
ASYNC(14, async_memory_copy_p2p, p2p, "order.chain", authority::D, check_chain, devices(2))

// The stream belongs to the source device; a stream of the destination is refused.
HAL_CASE("45079.T2.async_memory_copy_p2p.order.stream_of_src_device", clauses{"45079/T2.14"}, authority::A,
         needs{E::async_memory_copy_p2p, memory_io(), E::create_stream, a_gate, devices(2)})
(Test& t) {
    const hal_stream source = t.stream(0);
    const Sides sides = prepare(t, p2p, size);
    const Gate g = t.gate(source, 0);
    t.ok(start(t, p2p, sides, source));
    t.expect_unwritten(*sides.to, g);
    g.open();
    t.sync(source, 0);
    expect_arrived(t, p2p, sides);
    const hal_stream target = t.stream(1);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return start(t, p2p, sides, target); });
}

// Both directions at once on two streams: right, and how much the one hides the other.
HAL_CASE("45079.T2.async_memory_copy_h2d.conc.h2d_d2h_duplex", clauses{"45079/T2.11", "45079/T2.12"}, authority::Q,
         needs{E::async_memory_copy_h2d, E::async_memory_copy_d2h, memory_io()})
(Test& t) {
    constexpr uint64_t large = 8U << 20U;
    const hal_stream up = t.stream();
    const hal_stream down = t.stream();
    const Sides to = prepare(t, h2d, large);
    const Sides back = prepare(t, d2h, large);
    const auto timed = [&](bool first, bool second) {
        const auto begin = std::chrono::steady_clock::now();
        if (first) {
            t.ok(start(t, h2d, to, up));
        }
        if (second) {
            t.ok(start(t, d2h, back, down));
        }
        t.sync(up);
        t.sync(down);
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    (void)timed(true, true);
    const double one = timed(true, false);
    const double other = timed(false, true);
    const double both = timed(true, true);
    t.metric("overlap of copies in both directions", (one + other - both) / std::min(one, other), "");
    expect_arrived(t, h2d, to);
    expect_arrived(t, d2h, back);
}

HAL_CASE("45079.T2.host_memory_allocate.norm.async_from_pinned_is_async", clauses{"45079/T2.3", "45280/5.3.1"},
         authority::Q,
         needs{E::host_memory_allocate, E::host_memory_deallocate, E::async_memory_copy_h2d, memory_io(), a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const DeviceBuffer& to = t.device(size);
    void* pinned = nullptr;
    if (!t.ok(t.api.host_memory_allocate(0, size, &pinned))) {
        return;
    }
    const Pattern pattern = t.pattern();
    pattern.write(pinned, size);
    {
        const Gate g = t.gate(s);
        t.ok(t.returns([&] { return t.api.async_memory_copy_h2d(0, s, to.ptr, pinned, size); }, g));
        g.open();
        t.sync(s);
    }
    t.expect(to, pattern, "data from page-locked memory");
    t.ok(t.api.host_memory_deallocate(0, pinned, size));
}

}  // namespace
}  // namespace hal::conformance

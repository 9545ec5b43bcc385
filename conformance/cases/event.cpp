// Table 4: events without ordering; event_ext's clock.
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T4.create_event.norm.usable", clauses{"45079/T4.1"}, authority::S,
         needs{E::create_event, E::record_event, E::synchronize_event, E::destroy_event})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        hal_event event = nullptr;
        t.ok(t.api.create_event(dev, nullptr, &event));
        t.check(event != nullptr, "the handle was written");
        t.ok(t.api.record_event(dev, nullptr, event));
        t.ok(t.api.synchronize_event(dev, event, HAL_NO_TIMEOUT));
        t.ok(t.api.destroy_event(dev, event));
    }
}

HAL_CASE("45079.T4.create_event.norm.distinct", clauses{"45079/T4.1"}, authority::D, needs{E::create_event})
(Test& t) {
    std::set<hal_event> seen;
    for (int i = 0; i < 1000; ++i) {
        const hal_event event = t.event();
        t.check(event != nullptr, "the handle was written");
        t.check(seen.insert(event).second, "no live event has this handle");
    }
}

HAL_CASE("45079.T4.create_event.norm.initial_state", clauses{"45079/T4.1"}, authority::A,
         needs{E::create_event, E::synchronize_event})
(Test& t) {
    const hal_event event = t.event();
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    t.ok(t.api.synchronize_event(0, event, 0));
}

HAL_CASE("45079.T4.create_event.err.null_out", clauses{"45079/T4.1"}, authority::A, needs{E::create_event})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_event(0, nullptr, nullptr); });
}

HAL_CASE("45079.T4.create_event.err.bad_desc", clauses{"45079/T4.1"}, authority::A, needs{E::create_event})
(Test& t) {
    hal_event event = nullptr;
    hal_event_desc desc{{sizeof(hal_event_desc), 0, nullptr}, 0x40, 0};
    // No such flag, or none that this plug-in knows.
    t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_UNSUPPORTED},
                [&] { return t.api.create_event(0, &desc, &event); });
    desc.flags = 0;
    desc.header.size = 3;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_event(0, &desc, &event); });
    desc.header.size = sizeof(hal_header);  // an older caller, before there were flags
    t.ok(t.api.create_event(0, &desc, &event));
    t.ok(t.api.destroy_event(0, event));
}

HAL_CASE("45079.T4.create_event.edge.null_desc", clauses{"45079/T4.1"}, authority::A,
         needs{E::create_event, E::destroy_event, E::record_event, E::synchronize_event})
(Test& t) {
    const hal_event_desc desc{{sizeof(hal_event_desc), 0, nullptr}, 0, 0};
    for (const hal_event_desc* given : {static_cast<const hal_event_desc*>(nullptr), &desc}) {
        hal_event event = nullptr;
        t.ok(t.api.create_event(0, given, &event));
        t.ok(t.api.record_event(0, nullptr, event));
        t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
        t.ok(t.api.destroy_event(0, event));
    }
}

HAL_CASE("45079.T4.create_event.life.per_device", clauses{"45079/T4.1"}, authority::D,
         needs{E::create_event, event_io(), any_work})
(Test& t) {
    std::vector<std::pair<hal_dev, hal_event>> events;
    std::vector<Work*> works;
    for (int i = 0; i < 3; ++i) {
        for (hal_dev dev = t.facts.device_count - 1; dev >= 0; --dev) {
            events.emplace_back(dev, t.event(dev));
            works.push_back(&t.work(t.stream(dev), dev));
        }
    }
    for (size_t i = 0; i < events.size(); ++i) {
        const auto [dev, event] = events[i];
        works[i]->enqueue();
        t.ok(t.api.record_event(dev, works[i]->stream(), event));
    }
    for (size_t i = 0; i < events.size(); ++i) {
        t.ok(t.api.synchronize_event(events[i].first, events[i].second, HAL_NO_TIMEOUT));
        works[i]->expect_done();
    }
}

HAL_CASE("45079.T4.create_event.stress.many", clauses{"45079/T4.1"}, authority::A,
         needs{E::create_event, E::destroy_event, E::record_event, E::synchronize_event})
(Test& t) {
    std::vector<hal_event> made;
    hal_status status = HAL_OK;
    while (made.size() < 65'536 && status == HAL_OK) {
        hal_event event = nullptr;
        status = t.api.create_event(0, nullptr, &event);
        if (status == HAL_OK) {
            made.push_back(event);
        }
    }
    t.check(status == HAL_OK || status == HAL_ERROR_OUT_OF_RESOURCES || status == HAL_ERROR_OUT_OF_HOST_MEMORY,
            "many events are made, or the limit is said");
    for (const hal_event event : made) {
        t.ok(t.api.destroy_event(0, event));
    }
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, nullptr, event));
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.T4.destroy_event.norm.basic", clauses{"45079/T4.2"}, authority::S,
         needs{E::destroy_event, E::create_event})
(Test& t) {
    for (int i = 0; i < 1000; ++i) {
        hal_event event = nullptr;
        t.ok(t.api.create_event(0, nullptr, &event));
        t.ok(t.api.destroy_event(0, event));
    }
}

HAL_CASE("45079.T4.destroy_event.conc.other_thread", clauses{"45079/T4.2"}, authority::A,
         needs{E::destroy_event, E::create_event, E::record_event})
(Test& t) {
    hal_event event = nullptr;
    t.ok(t.api.create_event(0, nullptr, &event));
    t.ok(t.api.record_event(0, nullptr, event));
    t.threads(1, [&](int) { t.ok(t.api.destroy_event(0, event)); });
}

HAL_CASE("45079.T4.record_event.norm.null_stream", clauses{"45079/T4.3"}, authority::S,
         needs{E::record_event, E::create_event, E::synchronize_event})
(Test& t) {
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, nullptr, event));
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

// Nothing is waited for, so that it completes without anything else being done.
HAL_CASE("45079.T4.record_event.order.empty_stream", clauses{"45079/T4.3"}, authority::D,
         needs{E::record_event, E::create_event, E::synchronize_event})
(Test& t) {
    const auto limit_ns = static_cast<uint64_t>(std::chrono::nanoseconds(t.limits.finish).count());
    for (int i = 0; i < 40; ++i) {
        const hal_event event = t.event();
        t.ok(t.api.record_event(0, i % 2 == 0 ? t.stream() : nullptr, event));
        t.ok(t.api.synchronize_event(0, event, limit_ns));
    }
}

HAL_CASE("45079.T4.record_event.stress.flood", clauses{"45079/T4.3"}, authority::D,
         needs{E::record_event, E::create_event, E::synchronize_event})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    for (int i = 0; i < 100'000; ++i) {
        t.ok(t.api.record_event(0, s, event));
    }
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

// The same event and stream for all of them.
HAL_CASE("45079.T4.record_event.conc.shared_event", clauses{"45079/T4.3"}, authority::A,
         needs{E::record_event, free_threads, E::create_event, E::synchronize_event})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event shared = t.event();
    t.threads(8, [&](int) {
        for (int i = 0; i < 500; ++i) {
            t.ok(t.api.record_event(0, s, shared));
            t.ok(t.api.synchronize_event(0, shared, HAL_NO_TIMEOUT));
        }
    });
}

HAL_CASE("45079.T4.query_event.norm.never_recorded", clauses{"45079/T4.4"}, authority::A,
         needs{E::query_event, E::create_event})
(Test& t) {
    t.ok(t.api.query_event(0, t.event()));
}

HAL_CASE("45079.T4.query_event.norm.monotone", clauses{"45079/T4.4"}, authority::D,
         needs{E::query_event, E::create_event, E::record_event})
(Test& t) {
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, nullptr, event));
    t.ok(t.poll([&] { return t.api.query_event(0, event); }));
    for (int i = 0; i < 100'000; ++i) {
        if (!t.ok(t.api.query_event(0, event), "once ready it stays ready")) {
            return;
        }
    }
}

HAL_CASE("45079.T4.query_event.norm.eventually_ready_without_sync", clauses{"45079/T4.4"}, authority::D,
         needs{E::query_event, E::create_event, E::record_event, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    Work& w = t.work(s);
    w.enqueue();
    t.ok(t.api.record_event(0, s, event));
    t.ok(t.poll([&] { return t.api.query_event(0, event); }));
    w.expect_done();
}

HAL_CASE("45079.T4.query_event.conc.pollers8", clauses{"45079/T4.4"}, authority::D,
         needs{E::query_event, E::create_event, E::record_event, free_threads, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);
    t.ok(t.api.record_event(0, s, event));
    std::atomic<int> looked{0};
    t.threads(8, [&](int) {
        const hal_status status = t.api.query_event(0, event);
        if (t.closed(g)) {
            t.eq(HAL_NOT_READY, status, "status behind a closed gate");
        }
        if (++looked == 8) {
            g.open();  // the last one to have looked
        }
        t.ok(t.poll([&] { return t.api.query_event(0, event); }));
    });
}

HAL_CASE("45079.T4.synchronize_event.order.data_complete", clauses{"45079/T4.5", "45280/5.3.4"}, authority::S,
         needs{E::synchronize_event, event_io(), memory_io(), E::async_memory_copy_d2h})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 300'007);
    HostBuffer& to = t.host(from.size);
    for (int i = 0; i < 100; ++i) {
        to.repoison();
        t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), from.ptr, from.size));
        t.ok(t.api.record_event(0, s, event));
        t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
        t.expect(to, pattern, "data when the wait has returned");
    }
}

HAL_CASE("45079.T4.synchronize_event.edge.never_recorded", clauses{"45079/T4.5"}, authority::A,
         needs{E::synchronize_event, E::create_event, any_work, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event event = t.event();
    const Gate g = t.gate(s);  // whatever else the device is doing
    t.ok(t.returns([&] { return t.api.synchronize_event(0, event, HAL_NO_TIMEOUT); }, g));
    g.open();
}

HAL_CASE("45079.T4.synchronize_event.norm.completed", clauses{"45079/T4.5"}, authority::S,
         needs{E::synchronize_event, E::create_event, E::record_event})
(Test& t) {
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, nullptr, event));
    for (int i = 0; i < 100; ++i) {
        t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    }
    t.ok(t.api.synchronize_event(0, event, 0), "a complete event is in time for any limit");
}

// ---- event_ext: the device's clock ----

HAL_CASE("hal.event_ext.event_elapsed.norm.spans_the_gate", clauses{"45079/T4.1"}, authority::A,
         needs{E::event_elapsed, E::create_event, E::record_event, E::synchronize_event, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_event start = t.event(0, HAL_EVENT_TIMING);
    const hal_event end = t.event(0, HAL_EVENT_TIMING);
    int64_t elapsed = INT64_MIN;
    t.ok(t.api.record_event(0, s, start));
    const Gate g = t.gate(s);
    const auto closed = std::chrono::steady_clock::now();
    t.ok(t.api.record_event(0, s, end));
    t.eq(HAL_NOT_READY, t.returns([&] { return t.api.event_elapsed(start, end, &elapsed); }, g),
         "status behind a closed gate");
    t.eq(INT64_MIN, elapsed, "the output before both are complete");
    Helper wait = t.blocks([&] { return t.api.synchronize_event(0, end, HAL_NO_TIMEOUT); }, g);
    const auto opened = std::chrono::steady_clock::now();
    if (!t.closed(g)) {
        return;
    }
    g.open();
    t.ok(wait.status());
    t.ok(t.api.event_elapsed(start, end, &elapsed));
    // The clocks are two: a tenth is left for their difference.
    t.le((opened - closed) * 9 / 10 / std::chrono::nanoseconds(1), elapsed, "nanoseconds across the closed gate");
    t.ok(t.api.event_elapsed(end, start, &elapsed));
    t.check(elapsed < 0, "the other way round is negative");
}

HAL_CASE("hal.event_ext.event_elapsed.err.misuse", clauses{"45079/T4.1"}, authority::A,
         needs{E::event_elapsed, E::create_event, E::record_event, E::synchronize_event})
(Test& t) {
    const hal_event timed = t.event(0, HAL_EVENT_TIMING);
    const hal_event plain = t.event();
    const hal_event unused = t.event(0, HAL_EVENT_TIMING);
    for (const hal_event event : {timed, plain}) {
        t.ok(t.api.record_event(0, nullptr, event));
        t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
    }
    int64_t elapsed = 0;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_elapsed(timed, timed, nullptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_elapsed(timed, plain, &elapsed); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.event_elapsed(timed, unused, &elapsed); });
}

HAL_CASE("45079.T4.create_event.err.ipc_excludes_timing", clauses{"45079/T4.1"}, authority::A,
         needs{E::create_event, E::event_ipc_export, E::event_elapsed})
(Test& t) {
    hal_event event = nullptr;
    hal_event_desc desc{{sizeof(hal_event_desc), 0, nullptr}, HAL_EVENT_IPC | HAL_EVENT_TIMING, 0};
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_event(0, &desc, &event); });
}

}  // namespace
}  // namespace hal::conformance

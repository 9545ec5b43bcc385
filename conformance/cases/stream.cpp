// Table 3: making and destroying streams.
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T3.create_stream.norm.usable", clauses{"45079/T3.1"}, authority::S, needs{E::create_stream, any_work})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        Work& w = t.work(t.stream(dev), dev);
        w.enqueue();
        t.ok(t.api.synchronize_device(dev, HAL_NO_TIMEOUT));
        w.expect_done();
    }
}

HAL_CASE("45079.T3.create_stream.norm.distinct", clauses{"45079/T3.1"}, authority::D, needs{E::create_stream})
(Test& t) {
    std::set<hal_stream> seen;
    for (int i = 0; i < 64; ++i) {
        const hal_stream s = t.stream();
        t.check(s != nullptr, "the handle was written");
        t.check(seen.insert(s).second, "no live stream has this handle");
    }
}

const NeedGroup& two_held_streams() {
    static const NeedGroup group = [] {
        NeedGroup all{E::create_stream, E::synchronize_stream, E::stream_add_callback};
        all.list.push_back(any_work);
        all.list.push_back(concurrent_streams);
        return all;
    }();
    return group;
}

// The stream of one thread is held; that of another goes on.
void check_independent(Test& t) {
    const hal_stream first = t.stream();
    const hal_stream second = t.stream();
    Work& w = t.work(second);
    const Gate g = t.gate(first);
    t.ok(t.returns(
        [&] {
            w.enqueue();
            return t.api.synchronize_stream(0, second, HAL_NO_TIMEOUT);
        },
        g));
    g.open();
    w.expect_done();
}

HAL_CASE("45079.T3.create_stream.norm.independent", clauses{"45079/T3.1", "45280/5.3.3"}, authority::S,
         needs{E::create_stream, two_held_streams()})
(Test& t) {
    check_independent(t);
}
HAL_CASE("45280.5_3_3.threads_streams_independent", clauses{"45280/5.3.3"}, authority::S, needs{two_held_streams()})
(Test& t) {
    check_independent(t);
}

HAL_CASE("45079.T3.create_stream.norm.null_stream_independent", clauses{"45079/T3.1"}, authority::A,
         needs{E::create_stream, two_held_streams()})
(Test& t) {
    const hal_stream created = t.stream();
    Work& w = t.work(created);
    Work& other = t.work(nullptr);
    {
        const Gate g = t.gate(nullptr);
        w.enqueue();
        t.ok(t.returns([&] { return t.api.synchronize_stream(0, created, HAL_NO_TIMEOUT); }, g));
        g.open();
    }
    t.sync(nullptr);
    const Gate g = t.gate(created);
    other.enqueue();
    t.ok(t.returns([&] { return t.api.synchronize_stream(0, nullptr, HAL_NO_TIMEOUT); }, g));
    g.open();
    w.expect_done();
    other.expect_done();
}

// What was asked for is what query_stream reports.
void check_properties(Test& t) {
    int32_t least = INT32_MIN;
    int32_t greatest = INT32_MIN;
    t.ok(t.api.stream_priority_range(0, &least, &greatest));
    for (int32_t priority = greatest; priority <= least; ++priority) {
        hal_stream_desc desc{{sizeof(hal_stream_desc), 0, nullptr}, priority, 0};
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(0, &desc, &s));
        hal_stream_info info{};
        info.header.size = sizeof info;
        t.ok(t.api.query_stream(0, s, &info));
        t.eq(priority, info.priority, "priority");
        t.eq(0, info.device, "device");
        t.ok(t.api.destroy_stream(0, s));
    }
}

HAL_CASE("45079.T3.create_stream.norm.properties", clauses{"46345/A6.d", "45079/T3.1"}, authority::S,
         needs{E::create_stream, E::query_stream, E::stream_priority_range, E::destroy_stream})
(Test& t) {
    check_properties(t);
}
HAL_CASE("46345.A6.d_stream_properties", clauses{"46345/A6.d", "45079/T3.1"}, authority::S,
         needs{E::create_stream, E::query_stream, E::stream_priority_range, E::destroy_stream})
(Test& t) {
    check_properties(t);
}

HAL_CASE("45079.T3.create_stream.edge.null_desc", clauses{"45079/T3.1"}, authority::A,
         needs{E::create_stream, E::destroy_stream, E::query_stream})
(Test& t) {
    const hal_stream_desc desc{{sizeof(hal_stream_desc), 0, nullptr}, 0, 0};
    for (const hal_stream_desc* given : {static_cast<const hal_stream_desc*>(nullptr), &desc}) {
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(0, given, &s));
        hal_stream_info info{};
        info.header.size = sizeof info;
        t.ok(t.api.query_stream(0, s, &info));
        t.eq(0, info.priority, "priority");
        t.eq(0U, info.flags, "flags");
        t.ok(t.api.destroy_stream(0, s));
    }
}

HAL_CASE("45079.T3.create_stream.life.per_device", clauses{"45079/T3.1"}, authority::D,
         needs{E::create_stream, E::destroy_stream, E::query_stream, any_work})
(Test& t) {
    std::vector<std::pair<hal_dev, hal_stream>> streams;
    std::vector<Work*> works;
    for (int i = 0; i < 3; ++i) {
        for (hal_dev dev = t.facts.device_count - 1; dev >= 0; --dev) {
            streams.emplace_back(dev, t.stream(dev));
            works.push_back(&t.work(streams.back().second, dev));
        }
    }
    for (Work* w : works) {
        w->enqueue();
    }
    for (size_t i = 0; i < streams.size(); ++i) {
        const auto [dev, s] = streams[i];
        t.sync(s, dev);
        hal_stream_info info{};
        info.header.size = sizeof info;
        t.ok(t.api.query_stream(dev, s, &info));
        t.eq(dev, info.device, "device");
        works[i]->expect_done();
    }
}

HAL_CASE("45079.T3.create_stream.err.bad_desc", clauses{"45079/T3.1"}, authority::A, needs{E::create_stream})
(Test& t) {
    hal_stream s = nullptr;
    hal_stream_desc desc{{sizeof(hal_stream_desc), 0, nullptr}, 0, 0x40};
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_stream(0, &desc, &s); });
    desc.flags = 0;
    desc.header.size = 3;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_stream(0, &desc, &s); });
    hal_header unknown{sizeof(hal_header), 0x7FFF | HAL_MUST_UNDERSTAND, nullptr};
    desc.header = {sizeof desc, 0, &unknown};
    t.fails(HAL_ERROR_UNSUPPORTED, [&] { return t.api.create_stream(0, &desc, &s); });
    t.check(s == nullptr, "no handle was written");
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_stream(0, nullptr, nullptr); });
}

HAL_CASE("45079.T3.create_stream.err.bad_priority", clauses{"45079/T3.1", "46345/T5"}, authority::A,
         needs{E::create_stream, E::stream_priority_range})
(Test& t) {
    int32_t least = 0;
    int32_t greatest = 0;
    t.ok(t.api.stream_priority_range(0, &least, &greatest));
    for (const int32_t priority : {least + 1, greatest - 1, INT32_MIN, INT32_MAX}) {
        hal_stream_desc desc{{sizeof(hal_stream_desc), 0, nullptr}, priority, 0};
        hal_stream s = nullptr;
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.create_stream(0, &desc, &s); });
    }
}

HAL_CASE("45079.T3.create_stream.stress.many", clauses{"45079/T3.1"}, authority::A,
         needs{E::create_stream, E::destroy_stream, any_work})
(Test& t) {
    std::vector<hal_stream> made;
    hal_status status = HAL_OK;
    while (made.size() < 4096 && status == HAL_OK) {
        hal_stream s = nullptr;
        status = t.api.create_stream(0, nullptr, &s);
        if (status == HAL_OK) {
            made.push_back(s);
        }
    }
    t.check(status == HAL_OK || status == HAL_ERROR_OUT_OF_RESOURCES || status == HAL_ERROR_OUT_OF_HOST_MEMORY,
            "many streams are made, or the limit is said");
    for (const hal_stream s : made) {
        t.ok(t.api.destroy_stream(0, s));
    }
    Work& w = t.work(t.stream());
    w.enqueue();
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    w.expect_done();
}

// ---- destroy_stream ----

HAL_CASE("45079.T3.destroy_stream.norm.basic", clauses{"45079/T3.2"}, authority::S,
         needs{E::destroy_stream, E::create_stream})
(Test& t) {
    for (int i = 0; i < 200; ++i) {
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(0, nullptr, &s));
        t.ok(t.api.destroy_stream(0, s));
    }
}

HAL_CASE("45079.T3.destroy_stream.order.pending_completes", clauses{"45079/T3.2"}, authority::A,
         needs{E::destroy_stream, E::create_stream, a_gate}, work_sources())
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    const Gate g = t.gate(s);
    w.enqueue();
    t.forget(s);
    Helper destroy = t.blocks([&] { return t.api.destroy_stream(0, s); }, g);
    g.open();
    t.ok(destroy.status());
    w.expect_done();
}

HAL_CASE("45079.T3.destroy_stream.life.events_survive", clauses{"45079/T3.2"}, authority::A,
         needs{E::destroy_stream, E::create_stream, E::create_event, E::record_event, E::synchronize_event,
               E::query_event})
(Test& t) {
    hal_stream s = nullptr;
    t.ok(t.api.create_stream(0, nullptr, &s));
    const hal_event event = t.event();
    t.ok(t.api.record_event(0, s, event));
    t.ok(t.api.destroy_stream(0, s));
    t.ok(t.api.query_event(0, event));
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.T3.destroy_stream.life.other_thread", clauses{"45079/T3.2"}, authority::A,
         needs{E::destroy_stream, E::create_stream, any_work})
(Test& t) {
    const hal_stream s = t.stream();
    Work& w = t.work(s);
    w.enqueue();
    t.forget(s);
    t.threads(1, [&](int) { t.ok(t.api.destroy_stream(0, s)); });
    w.expect_done();
}

HAL_CASE("45079.T3.destroy_stream.conc.others_unhurt", clauses{"45079/T3.2"}, authority::D,
         needs{E::destroy_stream, E::create_stream, E::synchronize_stream, any_work})
(Test& t) {
    const hal_stream kept = t.stream();
    Work& w = t.work(kept);
    for (int i = 0; i < 50; ++i) {
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(0, nullptr, &s));
        if (i == 25) {
            w.enqueue();
        }
        t.ok(t.api.destroy_stream(0, s));
    }
    t.ok(t.api.synchronize_stream(0, kept, HAL_NO_TIMEOUT));
    w.expect_done();
}

HAL_CASE("45079.T3.destroy_stream.order.callbacks_before_return", clauses{"45079/T3.2", "45079/T3.5"}, authority::A,
         needs{E::destroy_stream, E::create_stream, E::stream_add_callback})
(Test& t) {
    const hal_stream s = t.stream();
    auto& count = t.keep<Count>();
    const Gate g = t.gate(s);
    for (int i = 0; i < 20; ++i) {
        t.ok(t.api.stream_add_callback(0, s, &Count::up, &count));
    }
    t.forget(s);
    Helper destroy = t.blocks([&] { return t.api.destroy_stream(0, s); }, g);
    t.eq(0, count.calls.load(), "callbacks behind a closed gate");
    g.open();
    t.ok(destroy.status());
    t.eq(20, count.calls.load(), "callbacks when destroy has returned");
}

HAL_CASE("45079.T3.destroy_stream.life.reverse_order", clauses{"45079/T3.2"}, authority::D,
         needs{E::destroy_stream, E::create_stream, any_work})
(Test& t) {
    for (const bool reverse : {true, false}) {
        std::vector<hal_stream> streams;
        std::vector<Work*> works;
        for (int i = 0; i < 16; ++i) {
            hal_stream s = nullptr;
            t.ok(t.api.create_stream(0, nullptr, &s));
            streams.push_back(s);
            works.push_back(&t.work(s));
        }
        for (Work* w : works) {
            w->enqueue();
        }
        if (reverse) {
            std::reverse(streams.begin(), streams.end());
        } else {
            for (size_t i = streams.size() - 1; i > 0; --i) {
                std::swap(streams[i], streams[t.random() % (i + 1)]);
            }
        }
        for (const hal_stream s : streams) {
            t.ok(t.api.destroy_stream(0, s));
        }
        for (Work* w : works) {
            w->expect_done();
        }
    }
}

}  // namespace
}  // namespace hal::conformance

// Table 3: query_stream. Is the work complete, and what the stream is; never a wait.
#include "struct_checks.hpp"
#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T3.query_stream.norm.idle_ready", clauses{"45079/T3.3"}, authority::S, needs{E::query_stream})
(Test& t) {
    t.ok(t.api.query_stream(0, t.stream(), nullptr));
    t.ok(t.api.query_stream(0, nullptr, nullptr), "the default stream");
}

HAL_CASE("45079.T3.query_stream.order.not_ready_while_gate_closed", clauses{"45079/T3.3"}, authority::S,
         needs{E::query_stream, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const Gate g = t.gate(s);
    t.eq(HAL_NOT_READY, t.returns([&] { return t.api.query_stream(0, s, nullptr); }, g), "status behind a closed gate");
    g.open();
    t.ok(t.poll([&] { return t.api.query_stream(0, s, nullptr); }));
}

HAL_CASE("45079.T3.query_stream.order.ready_implies_data", clauses{"45079/T3.3"}, authority::D,
         needs{E::query_stream, memory_io(), E::async_memory_copy_d2h})
(Test& t) {
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 30'011);
    HostBuffer& to = t.host(from.size);
    for (int i = 0; i < 200; ++i) {
        to.repoison();
        t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), from.ptr, from.size));
        t.ok(t.poll([&] { return t.api.query_stream(0, s, nullptr); }));
        t.expect(to, pattern, "data when the query says ready");
    }
}

HAL_CASE("45079.T3.query_stream.norm.info_fields", clauses{"46345/A6.d", "45079/T3.3"}, authority::S,
         needs{E::query_stream, E::stream_add_callback})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    const hal_stream s = t.stream(dev);
    hal_stream_info before{};
    before.header.size = sizeof before;
    t.ok(t.api.query_stream(dev, s, &before));
    const Gate g = t.gate(s, dev);
    hal_stream_info during{};
    during.header.size = sizeof during;
    t.eq(HAL_NOT_READY, t.api.query_stream(dev, s, &during), "status behind a closed gate");
    g.open();
    t.ok(t.poll([&] { return t.api.query_stream(dev, s, nullptr); }));
    hal_stream_info after{};
    after.header.size = sizeof after;
    t.ok(t.api.query_stream(dev, s, &after));
    t.eq(dev, during.device, "device");
    t.eq(HAL_OK, during.status, "status in the struct");
    t.eq(before.submitted_count + 1, during.submitted_count, "operations enqueued");
    t.eq(before.completed_count, during.completed_count, "operations complete behind a closed gate");
    t.eq(during.submitted_count, after.completed_count, "operations complete at the end");
}

HAL_CASE("45079.T3.query_stream.edge.struct_size", clauses{"45079/T3.3"}, authority::A, needs{E::query_stream})
(Test& t) {
    const hal_stream s = t.stream();
    check_struct_sizes<hal_stream_info>(t, [&](hal_stream_info* out) { return t.api.query_stream(0, s, out); });
}

HAL_CASE("45079.T3.query_stream.err.bad_struct", clauses{"45079/T3.3"}, authority::A, needs{E::query_stream})
(Test& t) {
    hal_stream_info out{};
    out.header.size = 3;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.query_stream(0, nullptr, &out); });
}

HAL_CASE("45079.T3.query_stream.norm.never_blocks", clauses{"45079/T3.3"}, authority::A, needs{E::query_stream, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const Gate g = t.gate(s);
    t.eq(HAL_NOT_READY,
         t.returns(
             [&] {
                 hal_status status = HAL_NOT_READY;
                 for (int i = 0; i < 1000 && status == HAL_NOT_READY; ++i) {
                     status = t.api.query_stream(0, s, nullptr);
                 }
                 return status;
             },
             g),
         "status of 1,000 queries behind a closed gate");
    g.open();
    t.ok(t.poll([&] { return t.api.query_stream(0, s, nullptr); }));
}

HAL_CASE("45079.T3.query_stream.norm.null_stream", clauses{"45079/T3.3"}, authority::A, needs{E::query_stream, a_gate})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    hal_stream_info info{};
    info.header.size = sizeof info;
    t.ok(t.api.query_stream(dev, nullptr, &info));
    t.eq(dev, info.device, "device of the default stream");
    t.eq(0, info.priority, "priority of the default stream");
    const Gate g = t.gate(nullptr, dev);
    t.eq(HAL_NOT_READY, t.returns([&] { return t.api.query_stream(dev, nullptr, nullptr); }, g),
         "status behind a closed gate");
    g.open();
    t.ok(t.poll([&] { return t.api.query_stream(dev, nullptr, nullptr); }));
}

// Threads that ask all the time while the stream works see OK or NOT_READY, and disturb nothing.
HAL_CASE("45079.T3.query_stream.conc.poller", clauses{"45079/T3.3"}, authority::D,
         needs{E::query_stream, memory_io(), E::async_memory_copy_d2h, free_streams})
(Test& t) {
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 10'007);
    HostBuffer& to = t.host(from.size);
    std::atomic<bool> done{false};
    std::atomic<uint64_t> queries{0};
    t.threads(5, [&](int thread) {
        if (thread == 0) {
            for (int i = 0; i < 200; ++i) {
                t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), from.ptr, from.size));
            }
            while (queries < 1000) {  // every poller has had its turn
                std::this_thread::yield();
            }
            t.sync(s);
            done = true;
            return;
        }
        while (!done) {
            const hal_status status = t.api.query_stream(0, s, nullptr);
            ++queries;
            if (status != HAL_OK && status != HAL_NOT_READY) {
                t.ok(status, "a query while the stream works");
                queries += 1000;
                return;
            }
        }
    });
    t.expect(to, pattern, "data of the copies");
    t.ok(t.api.query_stream(0, s, nullptr), "a query at the end");
}

}  // namespace
}  // namespace hal::conformance

// Table 3: stream_add_callback. Exactly once, in stream order, never inside the call, before any later work.
#include <atomic>

#include "harness/test.hpp"

namespace hal::conformance {
namespace {

struct Call {
    std::atomic<int> count{0};
    std::atomic<int> order{-1};
    std::thread::id thread;
    hal_dev device = INT32_MIN;
    hal_stream stream = reinterpret_cast<hal_stream>(1);
    hal_status status = HAL_ERROR_INTERNAL;
    std::atomic<int>* next = nullptr;

    static void run(void* user_data, hal_dev device, hal_stream stream, hal_status status) {
        Call& call = *static_cast<Call*>(user_data);
        call.thread = std::this_thread::get_id();
        call.device = device;
        call.stream = stream;
        call.status = status;
        if (call.next != nullptr) {
            call.order = (*call.next)++;
        }
        ++call.count;
    }
};

HAL_CASE("45079.T3.stream_add_callback.norm.exactly_once", clauses{"45079/T3.5"}, authority::S,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    const hal_stream s = t.stream();
    std::vector<Call> calls(10'000);
    for (Call& call : calls) {
        t.ok(t.api.stream_add_callback(0, s, &Call::run, &call));
    }
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    for (const Call& call : calls) {
        t.eq(1, call.count.load(), "calls");
    }
}

HAL_CASE("45079.T3.stream_add_callback.order.fifo", clauses{"45079/T3.5"}, authority::D,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    const hal_stream s = t.stream();
    std::atomic<int> next{0};
    std::vector<Call> calls(1000);
    for (Call& call : calls) {
        call.next = &next;
        t.ok(t.api.stream_add_callback(0, s, &Call::run, &call));
    }
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    for (int i = 0; i < 1000; ++i) {
        t.eq(i, calls[static_cast<size_t>(i)].order.load(), "place in the order");
    }
}

HAL_CASE("45079.T3.stream_add_callback.norm.args", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    const hal_dev last = t.facts.device_count - 1;
    for (const hal_stream s : {t.stream(last), hal_stream{nullptr}}) {
        Call call;
        t.ok(t.api.stream_add_callback(last, s, &Call::run, &call));
        t.ok(t.api.synchronize_device(last, HAL_NO_TIMEOUT));
        t.eq(1, call.count.load(), "calls with the exact user data");
        t.eq(last, call.device, "device");
        t.check(call.stream == s, "the stream that was named");
        t.eq(HAL_OK, call.status, "status");
    }
}

HAL_CASE("45079.T3.stream_add_callback.norm.not_inline", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    for (int i = 0; i < 100; ++i) {
        Call call;
        t.ok(t.api.stream_add_callback(0, nullptr, &Call::run, &call));
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        t.check(call.thread != std::this_thread::get_id(), "another thread than the caller's runs it");
    }
}

HAL_CASE("45079.T3.stream_add_callback.order.call_returns_before", clauses{"45079/T3.5", "45280/5.3.1"}, authority::A,
         needs{E::stream_add_callback})
(Test& t) {
    const hal_stream s = t.stream();
    const Gate g = t.gate(s);
    Call call;
    t.ok(t.returns([&] { return t.api.stream_add_callback(0, s, &Call::run, &call); }, g));
    t.eq(0, call.count.load(), "calls behind a closed gate");
    g.open();
    t.sync(s);
    t.eq(1, call.count.load(), "calls");
}

HAL_CASE("45079.T3.stream_add_callback.order.after_prior_work", clauses{"45079/T3.5"}, authority::S,
         needs{E::stream_add_callback, memory_io(), E::async_memory_copy_d2h})
(Test& t) {
    struct Look {
        const HostBuffer* buffer;
        Pattern pattern;
        std::atomic<bool> right{false};
    };
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 1'000'003);
    HostBuffer& to = t.host(from.size);
    Look look{&to, pattern};
    const auto compare_now = [](void* user, hal_dev, hal_stream, hal_status) {
        Look& l = *static_cast<Look*>(user);
        l.right = !compare(l.buffer->data(), l.pattern, l.buffer->size());
    };
    t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), from.ptr, from.size));
    t.ok(t.api.stream_add_callback(0, s, compare_now, &look));
    t.sync(s);
    t.check(look.right, "the callback sees all data of the copy before it");
}

HAL_CASE("45079.T3.stream_add_callback.order.before_later_work", clauses{"45079/T3.5"}, authority::D,
         needs{E::stream_add_callback}, work_sources())
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        Work& w = t.work(s);
        const Gate g = t.gate(s);  // the gate is a callback
        w.enqueue();
        Helper wait = t.blocks([&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); }, g);
        w.expect_not_begun();
        g.open();
        t.ok(wait.status());
        w.expect_done();
    }
}

HAL_CASE("45079.T3.stream_add_callback.order.not_lost_on_destroy", clauses{"45079/T3.5", "45079/T3.2"}, authority::D,
         needs{E::stream_add_callback, E::create_stream, E::destroy_stream})
(Test& t) {
    for (int i = 0; i < 50; ++i) {
        std::vector<Call> calls(20);
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(0, nullptr, &s));
        for (Call& call : calls) {
            t.ok(t.api.stream_add_callback(0, s, &Call::run, &call));
        }
        t.ok(t.api.destroy_stream(0, s));
        for (const Call& call : calls) {
            t.eq(1, call.count.load(), "calls when destroy has returned");
        }
    }
}

HAL_CASE("45079.T3.stream_add_callback.conc.two_threads_one_stream", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    const hal_stream s = t.stream();
    std::atomic<int> next{0};
    std::vector<Call> calls(4000);
    t.threads(4, [&](int thread) {
        for (size_t i = 0; i < 1000; ++i) {
            Call& call = calls[static_cast<size_t>(thread) * 1000 + i];
            call.next = &next;
            t.ok(t.api.stream_add_callback(0, s, &Call::run, &call));
        }
    });
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    t.eq(4000, next.load(), "calls in all");
    for (size_t i = 0; i < calls.size(); ++i) {
        t.eq(1, calls[i].count.load(), "calls");
        t.check(i % 1000 == 0 || calls[i].order > calls[i - 1].order, "each thread's callbacks keep their order");
    }
}

HAL_CASE("45079.T3.stream_add_callback.err.null_callback", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.stream_add_callback(0, nullptr, nullptr, nullptr); });
}

// What a blocking entry answers inside a callback is the plug-in's choice, as long as nothing hangs.
HAL_CASE("45079.T3.stream_add_callback.edge.blocking_inside", clauses{"45079/T3.5"}, authority::Q,
         needs{E::stream_add_callback, E::synchronize_stream})
(Test& t) {
    struct Inner {
        Test* test;
        std::atomic<int32_t> status{INT32_MIN};
    };
    Inner inner{&t};
    const hal_stream s = t.stream();
    const auto wait_inside = [](void* user, hal_dev dev, hal_stream stream, hal_status) {
        Inner& i = *static_cast<Inner*>(user);
        i.status = i.test->api.synchronize_stream(dev, stream, 100'000'000);
    };
    t.ok(t.api.stream_add_callback(0, s, wait_inside, &inner));
    t.sync(s);
    t.eq(to_string(HAL_ERROR_REENTRANT), to_string(static_cast<hal_status>(inner.status.load())),
         "status inside a callback");
}

}  // namespace
}  // namespace hal::conformance

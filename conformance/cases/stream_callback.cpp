// Table 3: stream_add_callback. Exactly once, in stream order, never inside the call, before any later work.
#include "waits.hpp"

namespace hal::conformance {
namespace {

// What one callback saw. Atomic, because a faulty plug-in may call while the case looks.
struct CallRecord {
    std::atomic<int> count{0};
    std::atomic<int> order{-1};
    std::atomic<std::thread::id> thread;
    std::atomic<hal_dev> device{INT32_MIN};
    std::atomic<hal_stream> stream{nullptr};
    std::atomic<hal_status> status{HAL_ERROR_INTERNAL};
    std::atomic<int>* next = nullptr;

    static void run(void* user_data, hal_dev device, hal_stream stream, hal_status status) {
        CallRecord& call = *static_cast<CallRecord*>(user_data);
        call.thread = std::this_thread::get_id();
        call.device = device;
        call.stream = stream;
        call.status.store(status);
        if (call.next != nullptr) {
            call.order = (*call.next)++;
        }
        ++call.count;
    }
};

// Many of them, with a common order.
struct CallRecords {
    explicit CallRecords(size_t count) : list(count) {
        for (CallRecord& call : list) {
            call.next = &next;
        }
    }
    std::atomic<int> next{0};
    std::vector<CallRecord> list;

    void expect_once(Test& t, std::string_view what, Where where = Where::here()) const {
        for (const CallRecord& call : list) {
            t.eq(1, call.count.load(), what, where);
        }
    }
};

void add_all(Test& t, hal_stream s, CallRecords& calls, Where where = Where::here()) {
    for (CallRecord& call : calls.list) {
        t.ok(t.api.stream_add_callback(0, s, &CallRecord::run, &call), "stream_add_callback", where);
    }
}

HAL_CASE("45079.T3.stream_add_callback.norm.exactly_once", clauses{"45079/T3.5"}, authority::S,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    auto& calls = t.keep<CallRecords>(10'000);
    add_all(t, t.stream(), calls);
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    calls.expect_once(t, "calls");
}

HAL_CASE("45079.T3.stream_add_callback.order.fifo", clauses{"45079/T3.5"}, authority::D,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    auto& calls = t.keep<CallRecords>(1000);
    add_all(t, t.stream(), calls);
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    for (int i = 0; i < 1000; ++i) {
        t.eq(i, calls.list[static_cast<size_t>(i)].order.load(), "place in the order");
    }
}

// The pointer is the caller's own business: NULL, odd, no address at all.
HAL_CASE("45079.T3.stream_add_callback.norm.user_data", clauses{"45079/T3.5"}, authority::D,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    static std::mutex mutex;
    static std::vector<void*> seen;
    seen.clear();
    std::vector<void*> given{nullptr, reinterpret_cast<void*>(uintptr_t{1}), reinterpret_cast<void*>(UINTPTR_MAX)};
    for (int i = 0; i < 97; ++i) {
        given.push_back(reinterpret_cast<void*>(t.random()));
    }
    const auto keep = [](void* user, hal_dev, hal_stream, hal_status) {
        const std::lock_guard lock(mutex);
        seen.push_back(user);
    };
    const hal_stream s = t.stream();
    for (void* user : given) {
        t.ok(t.api.stream_add_callback(0, s, keep, user));
    }
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    const std::lock_guard lock(mutex);
    t.check(seen == given, "each callback gets the pointer it was added with");
}

HAL_CASE("45079.T3.stream_add_callback.norm.args", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    const hal_dev last = t.facts.device_count - 1;
    for (const hal_stream s : {t.stream(last), hal_stream{nullptr}}) {
        auto& call = t.keep<CallRecord>();
        call.stream = reinterpret_cast<hal_stream>(1);
        t.ok(t.api.stream_add_callback(last, s, &CallRecord::run, &call));
        t.ok(t.api.synchronize_device(last, HAL_NO_TIMEOUT));
        t.eq(1, call.count.load(), "calls with the exact user data");
        t.eq(last, call.device.load(), "device");
        t.check(call.stream == s, "the stream that was named");
        t.eq(HAL_OK, call.status.load(), "status");
    }
}

HAL_CASE("45079.T3.stream_add_callback.norm.not_inline", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    for (int i = 0; i < 100; ++i) {
        auto& call = t.keep<CallRecord>();
        t.ok(t.api.stream_add_callback(0, nullptr, &CallRecord::run, &call));
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
        t.check(call.thread.load() != std::this_thread::get_id(), "another thread than the caller's runs it");
    }
}

HAL_CASE("45079.T3.stream_add_callback.order.call_returns_before", clauses{"45079/T3.5", "45280/5.3.1"}, authority::A,
         needs{E::stream_add_callback})
(Test& t) {
    const hal_stream s = t.stream();
    const Gate g = t.gate(s);
    auto& call = t.keep<CallRecord>();
    t.ok(t.returns([&] { return t.api.stream_add_callback(0, s, &CallRecord::run, &call); }, g));
    t.eq(0, call.count.load(), "calls behind a closed gate");
    g.open();
    t.sync(s);
    t.eq(1, call.count.load(), "calls");
}

// Seven copies of other data and then the right one are before it; it looks at the last bytes, which takes no time, so
// that a callback which comes early is there long before they are right.
HAL_CASE("45079.T3.stream_add_callback.order.after_prior_work", clauses{"45079/T3.5"}, authority::S,
         needs{E::stream_add_callback, memory_io(), E::async_memory_copy_d2h})
(Test& t) {
    constexpr uint64_t size = (16U << 20U) + 3;
    constexpr uint64_t tail = 64;
    struct Look {
        explicit Look(const HostBuffer* b, const Pattern& p) : buffer(b), pattern(p) {}
        const HostBuffer* buffer;
        Pattern pattern;
        std::atomic<bool> right{false};
    };
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& other = t.device(t.pattern(), size);
    const DeviceBuffer& from = t.device(pattern, size);
    HostBuffer& to = t.host(size);
    auto& look = t.keep<Look>(&to, pattern);
    const auto compare_tail = [](void* user, hal_dev, hal_stream, hal_status) {
        Look& l = *static_cast<Look*>(user);
        l.right = !compare(l.buffer->data() + size - tail, l.pattern, tail, size - tail);
    };
    for (int i = 0; i < 7; ++i) {
        t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), other.ptr, size));
    }
    t.ok(t.api.async_memory_copy_d2h(0, s, to.data(), from.ptr, size));
    t.ok(t.api.stream_add_callback(0, s, compare_tail, &look));
    t.sync(s);
    t.check(look.right, "the callback sees the data of the copies before it");
    t.expect(to, pattern, "all data of the last copy");
}

HAL_CASE("45079.T3.stream_add_callback.order.before_later_work", clauses{"45079/T3.5"}, authority::D,
         needs{E::stream_add_callback}, work_sources())
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        Work& w = t.work(s);
        const Gate g = t.gate(s);  // the gate is a callback
        w.enqueue();
        check_waits(t, g, device_wait(t), {&w});
    }
}

HAL_CASE("45079.T3.stream_add_callback.order.not_lost_on_sync", clauses{"45079/T3.5", "45079/T3.4"}, authority::D,
         needs{E::stream_add_callback, E::synchronize_stream})
(Test& t) {
    const hal_stream s = t.stream();
    for (int i = 0; i < 50; ++i) {
        auto& calls = t.keep<CallRecords>(20);
        add_all(t, s, calls);
        t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
        calls.expect_once(t, "calls when the wait has returned");
    }
}

HAL_CASE("45079.T3.stream_add_callback.order.not_lost_on_destroy", clauses{"45079/T3.5", "45079/T3.2"}, authority::D,
         needs{E::stream_add_callback, E::create_stream, E::destroy_stream})
(Test& t) {
    for (int i = 0; i < 50; ++i) {
        auto& calls = t.keep<CallRecords>(20);
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(0, nullptr, &s));
        add_all(t, s, calls);
        t.ok(t.api.destroy_stream(0, s));
        calls.expect_once(t, "calls when destroy has returned");
    }
}

// finalize waits for them, or is BUSY and leaves them alone.
HAL_CASE("45079.T3.stream_add_callback.order.not_lost_on_finalize", clauses{"45079/T3.5", "45079/T1.12"}, authority::D,
         needs{E::stream_add_callback, E::initialize, E::finalize, E::synchronize_device})
(Test& t) {
    for (int i = 0; i < 10; ++i) {
        const auto other = t.another();
        const Api& api = other->api();
        auto& calls = t.keep<CallRecords>(100);
        t.ok(api.initialize());
        for (CallRecord& call : calls.list) {
            t.ok(api.stream_add_callback(0, nullptr, &CallRecord::run, &call));
        }
        const hal_status status = api.finalize();
        t.check(status == HAL_OK || status == HAL_ERROR_BUSY, "finalize waits or is busy");
        if (status == HAL_ERROR_BUSY) {
            t.ok(api.synchronize_device(0, HAL_NO_TIMEOUT));
            t.ok(api.finalize());
        }
        calls.expect_once(t, "calls when finalize has returned");
    }
}

HAL_CASE("45079.T3.stream_add_callback.conc.two_threads_one_stream", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, E::synchronize_device, free_streams})
(Test& t) {
    const hal_stream s = t.stream();
    auto& calls = t.keep<CallRecords>(4000);
    t.threads(4, [&](int thread) {
        for (size_t i = 0; i < 1000; ++i) {
            t.ok(
                t.api.stream_add_callback(0, s, &CallRecord::run, &calls.list[static_cast<size_t>(thread) * 1000 + i]));
        }
    });
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    t.eq(4000, calls.next.load(), "calls in all");
    calls.expect_once(t, "calls");
    for (size_t i = 0; i < calls.list.size(); ++i) {
        t.check(i % 1000 == 0 || calls.list[i].order > calls.list[i - 1].order,
                "each thread's callbacks keep their order");
    }
}

HAL_CASE("45079.T3.stream_add_callback.conc.from_threads8", clauses{"45079/T3.5"}, authority::D,
         needs{E::stream_add_callback, E::synchronize_device, free_streams})
(Test& t) {
    std::vector<hal_stream> streams;
    for (int i = 0; i < 8; ++i) {
        streams.push_back(i % 2 == 0 ? t.stream() : nullptr);
    }
    auto& sum = t.keep<std::atomic<uint64_t>>(0U);
    const auto add = [](void* user, hal_dev, hal_stream, hal_status) { ++*static_cast<std::atomic<uint64_t>*>(user); };
    t.threads(8, [&](int thread) {
        for (int i = 0; i < 500; ++i) {
            t.ok(t.api.stream_add_callback(0, streams[static_cast<size_t>(thread)], add, &sum));
        }
    });
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    t.eq(uint64_t{4000}, sum.load(), "calls of all threads");
}

// A callback that takes its time holds its own stream and no other.
HAL_CASE("45079.T3.stream_add_callback.fault.slow_callback", clauses{"45079/T3.5", "45280/5.3.3"}, authority::A,
         needs{E::stream_add_callback, E::create_stream, E::synchronize_stream, memory_io(), E::async_memory_copy_h2d,
               concurrent_streams})
(Test& t) {
    const hal_stream slow = t.stream();
    const hal_stream other = t.stream();
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, 5003);
    const DeviceBuffer& to = t.device(5003);
    const Gate g = t.gate(slow);
    t.ok(t.returns(
        [&] {
            const hal_status status = t.api.async_memory_copy_h2d(0, other, to.ptr, source.data(), to.size);
            return status == HAL_OK ? t.api.synchronize_stream(0, other, HAL_NO_TIMEOUT) : status;
        },
        g));
    g.open();
    t.sync(slow);
    t.expect(to, pattern, "work of the other stream");
}

// An enqueue is no wait, so that a callback may add another.
HAL_CASE("45079.T3.stream_add_callback.life.enqueue_from_callback", clauses{"45079/T3.5"}, authority::Q,
         needs{E::stream_add_callback, E::synchronize_device})
(Test& t) {
    struct Chain {
        explicit Chain(const Api& a) : api(a) {}
        Api api;
        std::atomic<hal_status> status{HAL_ERROR_INTERNAL};
        Count second;
    };
    const auto add = [](void* user, hal_dev device, hal_stream stream, hal_status) {
        Chain& chain = *static_cast<Chain*>(user);
        chain.status.store(chain.api.stream_add_callback(device, stream, &Count::up, &chain.second));
    };
    auto& chain = t.keep<Chain>(t.api);
    const hal_stream s = t.stream();
    t.ok(t.api.stream_add_callback(0, s, add, &chain));
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));  // the first has run
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));  // and what it has added
    t.ok(chain.status.load(), "stream_add_callback inside a callback");
    t.eq(1, chain.second.calls.load(), "calls of the second");
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
        explicit Inner(const Api& a) : api(a) {}
        Api api;
        std::atomic<int32_t> status{INT32_MIN};
    };
    auto& inner = t.keep<Inner>(t.api);
    const hal_stream s = t.stream();
    const auto wait_inside = [](void* user, hal_dev dev, hal_stream stream, hal_status) {
        Inner& i = *static_cast<Inner*>(user);
        i.status = i.api.synchronize_stream(dev, stream, 100'000'000);
    };
    t.ok(t.api.stream_add_callback(0, s, wait_inside, &inner));
    t.sync(s);
    t.eq(to_string(HAL_ERROR_REENTRANT), to_string(static_cast<hal_status>(inner.status.load())),
         "status inside a callback");
}

}  // namespace
}  // namespace hal::conformance

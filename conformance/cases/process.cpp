// Rules over several entries: two instances, threads, errors, fork, the plug-in's entry symbol.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "waits.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.X.abi.norm.entry_is_pure", clauses{"hal/3"}, authority::A, needs{})
(Test& t) {
    const hal_backend_descriptor* first = t.target.entry(t.backend().host().table());
    const hal_backend_descriptor* second = t.target.entry(t.backend().host().table());
    t.check(first != nullptr && first == second, "the entry returns the same descriptor each time");
    t.check(first == &t.backend().descriptor(), "also while an instance lives");
}

HAL_CASE("45079.X.abi.norm.descriptor", clauses{"hal/3"}, authority::A, needs{})
(Test& t) {
    const hal_backend_descriptor& d = t.backend().descriptor();
    t.check(d.name != nullptr && d.vendor != nullptr && d.version != nullptr && d.build != nullptr,
            "no string is NULL");
    t.eq(t.target.id, std::string(d.name == nullptr ? "" : d.name), "the name equals backend.id of the manifest");
}

HAL_CASE("45079.X.abi.norm.tables", clauses{"hal/3"}, authority::A, needs{})
(Test& t) {
    const auto& d = t.backend().descriptor();
    for (const TableInfo& table : tables) {
        const hal_table_header* first = d.get_table(t.backend().instance(), table.id_major());
        t.check(first == d.get_table(t.backend().instance(), table.id_major()), "the same table each time");
        t.check(d.get_table(t.backend().instance(), HAL_TABLE_ID(table.id, 0x7FFF)) == nullptr,
                "no table of an unknown major");
    }
    t.check(d.get_table(t.backend().instance(), HAL_TABLE_ID(0x7FFF, 1)) == nullptr, "no table of an unknown id");
}

HAL_CASE("45079.X.life.norm.two_instances", clauses{"hal/5"}, authority::A, needs{memory_io()})
(Test& t) {
    const auto other = t.another();
    t.check(other->instance() != t.backend().instance(), "the second instance is another one");
    t.ok(other->initialize());
    const Pattern pattern = t.pattern();
    const DeviceBuffer& mine = t.device(pattern, 4099);
    hal_dptr its = 0;
    t.ok(other->api().device_memory_allocate(0, 4099, &its));
    HostBuffer zero(4099);
    t.ok(other->api().memory_copy_h2d(0, its, zero.data(), 4099));
    t.expect(mine, pattern, "data of the first instance");
    t.ok(other->api().device_memory_deallocate(0, its, 4099));
    t.ok(other->finalize());
    other->destroy();
    t.expect(mine, pattern, "data after the second instance is gone");
}

HAL_CASE("45079.X.life.norm.fork_child", clauses{"hal/10"}, authority::A,
         needs{E::create_event, E::synchronize_device, no_fork_claim})
(Test& t) {
    const hal_event event = t.event();
    // The one place that forks: what a forked child meets is the thing under test, and the child only calls and leaves.
    const pid_t pid = fork();
    if (pid == 0) {
        alarm(20);  // a child that hangs must not outlive the case
        hal_event made = nullptr;
        int wrong = 0;
        wrong += t.api.synchronize_device(0, HAL_NO_TIMEOUT) == HAL_ERROR_FORKED ? 0 : 1;
        wrong += t.api.create_event(0, nullptr, &made) == HAL_ERROR_FORKED ? 0 : 2;
        wrong += t.api.record_event(0, nullptr, event) == HAL_ERROR_FORKED ? 0 : 4;
        wrong += Host::last_error().status == HAL_ERROR_FORKED ? 0 : 8;
        _exit(wrong);
    }
    int status = -1;
    if (!t.check(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status), "the child leaves by itself")) {
        return;
    }
    t.eq(0, WEXITSTATUS(status), "bits of what did not answer FORKED (1 synchronize, 2 create, 4 record, 8 text)");
    t.ok(t.api.record_event(0, nullptr, event), "the parent is unhurt");
    t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
}

HAL_CASE("45079.X.error.norm.per_thread", clauses{"hal/4"}, authority::A, needs{E::set_device})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(-1); });
    const std::string mine = Host::last_error().text;
    t.threads(1, [&](int) {
        t.check(Host::last_error().serial == 0, "a new thread has no error");
        t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(t.facts.device_count); });
    });
    t.eq(mine, Host::last_error().text, "the error of this thread");
    t.ok(t.api.set_device(0));
    t.eq(mine, Host::last_error().text, "success does not clear it");
}

// A thread with the least stack that the system allows, plus 64 KiB.
HAL_CASE("45079.X.thread.norm.small_stack", clauses{"hal/10"}, authority::A, needs{any_work, E::synchronize_device})
(Test& t) {
    struct Body {
        Test& test;
        Work& work;
        hal_status status = HAL_ERROR_INTERNAL;
    };
    Body body{t, t.work(t.stream())};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, static_cast<size_t>(sysconf(_SC_THREAD_STACK_MIN)) + (64U << 10U));
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        Body& b = *static_cast<Body*>(argument);
        b.work.enqueue();
        b.status = b.test.api.synchronize_device(0, HAL_NO_TIMEOUT);
        return nullptr;
    };
    const int failed = pthread_create(&thread, &attributes, run, &body);
    pthread_attr_destroy(&attributes);
    if (failed != 0) {
        throw HarnessError("no thread with a small stack");
    }
    pthread_join(thread, nullptr);
    t.ok(body.status);
    body.work.expect_done();
}

HAL_CASE("45079.X.thread.norm.exit_with_state", clauses{"hal/10"}, authority::A,
         needs{E::set_device, E::create_event, E::record_event, E::synchronize_event})
(Test& t) {
    std::vector<hal_event> events(50);
    for (size_t i = 0; i < events.size(); ++i) {
        t.threads(1, [&](int) {  // a thread that ends with everything it set and made still there
            t.ok(t.api.set_device(t.facts.device_count - 1));
            t.ok(t.api.create_event(0, nullptr, &events[i]));
            t.ok(t.api.record_event(0, nullptr, events[i]));
        });
    }
    for (const hal_event event : events) {
        t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
        t.ok(t.api.destroy_event(0, event));
    }
}

// 64 threads, each with a stream, events and callbacks, waiting for each other's events.
HAL_CASE("45079.X.thread.stress.n64", clauses{"hal/10"}, authority::A,
         needs{E::create_stream, E::destroy_stream, E::synchronize_stream, E::stream_add_callback, E::stream_wait_event,
               E::create_event, E::destroy_event, E::record_event, E::synchronize_event, memory_io(),
               E::async_memory_copy_h2d, E::async_memory_copy_d2h, free_threads})
(Test& t) {
    constexpr int count = 64;
    constexpr uint64_t size = 513;
    std::vector<hal_event> shared;
    std::vector<DeviceBuffer*> buffers;
    for (int i = 0; i < count; ++i) {
        shared.push_back(t.event(i % t.facts.device_count));
        buffers.push_back(&t.device(size, i % t.facts.device_count));
    }
    auto& callbacks = t.keep<Count>();
    t.threads(count, [&](int thread) {
        const auto mine = static_cast<size_t>(thread);
        const hal_dev dev = thread % t.facts.device_count;
        hal_stream s = nullptr;
        t.ok(t.api.create_stream(dev, nullptr, &s));
        const auto& source = t.keep<HostBuffer>(size);
        const auto& back = t.keep<HostBuffer>(size);
        for (uint64_t i = 0; i < 20; ++i) {
            const Pattern pattern(i, mine);
            source.write(pattern);
            t.ok(t.api.stream_wait_event(dev, s, shared[(mine + 1) % count]));
            t.ok(t.api.async_memory_copy_h2d(dev, s, buffers[mine]->ptr, source.data(), size));
            t.ok(t.api.async_memory_copy_d2h(dev, s, back.data(), buffers[mine]->ptr, size));
            t.ok(t.api.stream_add_callback(dev, s, &Count::up, &callbacks));
            t.ok(t.api.record_event(dev, s, shared[mine]));
            t.ok(i % 2 == 0 ? t.api.synchronize_stream(dev, s, HAL_NO_TIMEOUT)
                            : t.api.synchronize_event(dev, shared[mine], HAL_NO_TIMEOUT));
            t.expect(back, pattern, "this thread's data");
        }
        t.ok(t.api.destroy_stream(dev, s));
    });
    t.eq(count * 20, callbacks.calls.load(), "callbacks in all");
}

}  // namespace
}  // namespace hal::conformance

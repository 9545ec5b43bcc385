// Table 2: a synchronous copy or set is complete for the host when it returns (GB/T 45280 5.3.1).
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t large = (8U << 20U) + 5;

HAL_CASE("45079.T2.memory_copy_h2d.norm.complete_on_return", clauses{"45079/T2.7", "45280/5.3.1"}, authority::S,
         needs{E::memory_copy_h2d, memory_io()}, cls::medium)
(Test& t) {
    constexpr uint64_t size = 20'011;
    const DeviceBuffer& to = t.device(size);
    HostBuffer& source = t.host(size);
    for (int i = 0; i < 1000; ++i) {
        const Pattern pattern = t.pattern();
        source.write(pattern);
        t.ok(t.api.memory_copy_h2d(0, to.ptr, source.data(), size));
        source.repoison();  // the caller's again
        HostBuffer back(size);
        t.ok(t.api.memory_copy_d2h(0, back.data(), to.ptr, size));
        if (!t.expect(back, pattern, "device data although the source was overwritten right after the call")) {
            return;
        }
    }
    HostBuffer& big = t.host(large);
    const DeviceBuffer& big_to = t.device(large);
    const Pattern pattern = t.pattern();
    big.write(pattern);
    t.ok(t.api.memory_copy_h2d(0, big_to.ptr, big.data(), large));
    big.repoison();
    t.expect(big_to, pattern, "a large copy although the source was overwritten right after the call");
}

HAL_CASE("45079.T2.memory_copy_d2h.norm.complete_on_return", clauses{"45079/T2.8", "45280/5.3.1"}, authority::S,
         needs{E::memory_copy_d2h, memory_io()}, cls::medium)
(Test& t) {
    constexpr uint64_t size = 50'021;
    HostBuffer& to = t.host(size);
    for (int i = 0; i < 200; ++i) {
        const Pattern pattern = t.pattern();
        DeviceBuffer& from = t.device(pattern, size);
        to.repoison();
        t.ok(t.api.memory_copy_d2h(0, to.data(), from.ptr, size));
        if (!t.expect(to, pattern, "the destination right after the call")) {
            return;
        }
        t.release(from);
    }
    HostBuffer& big = t.host(large);
    const Pattern pattern = t.pattern();
    const DeviceBuffer& big_from = t.device(pattern, large);
    t.ok(t.api.memory_copy_d2h(0, big.data(), big_from.ptr, large));
    t.expect(big, pattern, "a large destination right after the call");
    // The memory is the caller's again: nothing may write it any more.
    big.repoison();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    do {
        if (!t.expect(big, poison, "no later write to the destination")) {
            return;
        }
    } while (std::chrono::steady_clock::now() < end);
}

// What another stream, made before, reads right after the call, without any wait.
template <class Call>
void expect_seen_by_stream(Test& t, const DeviceBuffer& to, const Call& call) {
    const hal_stream other = t.stream();
    HostBuffer& back = t.host(to.size);
    for (int i = 0; i < 10; ++i) {
        back.repoison();
        const auto expected = call(i);
        t.ok(t.api.async_memory_copy_d2h(0, other, back.data(), to.ptr, to.size));
        t.sync(other);
        if (!t.expect(back, expected, "what another stream reads right after the call")) {
            return;
        }
    }
}

// A gate holds an unrelated stream: the call completes or waits, and never returns with its work undone.
template <class Call>
void expect_done_beside_gate(Test& t, const DeviceBuffer& to, const Call& call) {
    const hal_stream unrelated = t.stream();
    HostBuffer& back = t.host(to.size);
    const Gate g = t.gate(unrelated);
    Helper helper([&] {
        const hal_status status = call();
        return status == HAL_OK ? t.api.memory_copy_d2h(0, back.data(), to.ptr, to.size) : status;
    });
    (void)helper.returned_within(t.limits.closed_look);
    g.open();
    t.ok(helper.status(), "the call and reading back, beside a stream that is held");
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.complete_on_return", clauses{"45079/T2.9", "45280/5.3.1"}, authority::S,
         needs{E::memory_copy_d2d, memory_io(), E::create_stream, E::async_memory_copy_d2h})
(Test& t) {
    const DeviceBuffer& from = t.device(large);
    const DeviceBuffer& to = t.device(large);
    expect_seen_by_stream(t, to, [&](int) {
        const Pattern pattern = t.pattern();
        t.write(from, pattern);
        t.ok(t.api.memory_copy_d2d(0, to.ptr, from.ptr, large));
        return pattern;
    });
}

HAL_CASE("45079.T2.memory_copy_d2d.order.beside_a_held_stream", clauses{"45079/T2.9", "45280/5.3.1"}, authority::S,
         needs{E::memory_copy_d2d, memory_io(), E::create_stream, a_gate})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 100'003);
    const DeviceBuffer& to = t.device(100'003);
    expect_done_beside_gate(t, to, [&] { return t.api.memory_copy_d2d(0, to.ptr, from.ptr, to.size); });
    t.expect(to, pattern, "the destination");
}

HAL_CASE("45079.T2.device_memory_set.norm.complete_on_return", clauses{"45079/T2.15", "45280/5.3.1"}, authority::S,
         needs{E::device_memory_set, memory_io(), E::create_stream, E::async_memory_copy_d2h})
(Test& t) {
    const DeviceBuffer& to = t.device(large);
    expect_seen_by_stream(t, to, [&](int i) {
        const auto value = static_cast<uint8_t>(17 + i);
        t.ok(t.api.device_memory_set(0, to.ptr, value, large));
        return value;
    });
}

HAL_CASE("45079.T2.device_memory_set.order.beside_a_held_stream", clauses{"45079/T2.15", "45280/5.3.1"}, authority::S,
         needs{E::device_memory_set, memory_io(), E::create_stream, a_gate})
(Test& t) {
    const DeviceBuffer& to = t.device(100'003);
    expect_done_beside_gate(t, to, [&] { return t.api.device_memory_set(0, to.ptr, 0x77U, to.size); });
    t.expect(to, uint8_t{0x77}, "the bytes that were set");
}

// A synchronous copy is ordered after work that was synchronised before.
HAL_CASE("45079.T2.memory_copy_h2d.order.does_not_reorder", clauses{"45079/T2.7"}, authority::A,
         needs{E::memory_copy_h2d, E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    constexpr uint64_t size = 100'003;
    const hal_stream s = t.stream();
    const DeviceBuffer& to = t.device(size);
    for (int i = 0; i < 50; ++i) {
        const Pattern first = t.pattern();
        const Pattern second = t.pattern();
        const HostBuffer a(size);
        const HostBuffer b(size);
        a.write(first);
        b.write(second);
        t.ok(t.api.async_memory_copy_h2d(0, s, to.ptr, a.data(), size));
        t.sync(s);
        t.ok(t.api.memory_copy_h2d(0, to.ptr, b.data(), size));
        t.expect(to, second, "the synchronous copy, which came later");
    }
}

// GB/T 45280 5.3.1, in that standard's words.
HAL_CASE("45280.5_3_1.sync_returns_after_completion", clauses{"45280/5.3.1"}, authority::S, needs{memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, large);
    const DeviceBuffer& to = t.device(large);
    t.ok(t.api.memory_copy_h2d(0, to.ptr, source.data(), large));
    source.repoison();
    t.expect(to, pattern, "the task is complete when the synchronous call has returned");
}

HAL_CASE("45280.5_3_1.async_returns_at_once", clauses{"45280/5.3.1"}, authority::S,
         needs{memory_io(), E::async_memory_copy_d2d, a_gate})
(Test& t) {
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 4099);
    const DeviceBuffer& to = t.device(4099);
    const Gate g = t.gate(s);
    t.ok(t.returns([&] { return t.api.async_memory_copy_d2d(0, s, to.ptr, from.ptr, 4099); }, g));
    g.open();
    t.sync(s);
    t.expect(to, pattern, "the data once the stream is synchronised");
}

}  // namespace
}  // namespace hal::conformance

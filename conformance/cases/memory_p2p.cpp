// Table 2: copies between devices.
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T2.memory_copy_p2p.norm.full", clauses{"45079/T2.10"}, authority::S,
         needs{E::memory_copy_p2p, memory_io(), devices(2)})
(Test& t) {
    for (hal_dev from = 0; from < t.facts.device_count; ++from) {
        for (hal_dev to = 0; to < t.facts.device_count; ++to) {
            const Pattern pattern = t.pattern();
            const DeviceBuffer& source = t.device(pattern, 100'003, from);
            const DeviceBuffer& target = t.device(100'003, to);
            t.ok(t.api.memory_copy_p2p(to, target.ptr, from, source.ptr, 100'003));
            t.expect(target, pattern, "the destination");
            t.expect(source, pattern, "the source after the copy");
        }
    }
}

HAL_CASE("45079.T2.memory_copy_p2p.conc.bidirectional", clauses{"45079/T2.10"}, authority::D,
         needs{E::memory_copy_p2p, memory_io(), devices(2), free_threads})
(Test& t) {
    constexpr uint64_t size = (1U << 20U) + 3;
    const Pattern up = t.pattern();
    const Pattern down = t.pattern();
    const DeviceBuffer* sources[] = {&t.device(up, size, 0), &t.device(down, size, 1)};
    const DeviceBuffer* targets[] = {&t.device(size, 0), &t.device(size, 1)};
    t.threads(2, [&](int from) {
        const int to = 1 - from;
        for (int i = 0; i < 20; ++i) {
            t.ok(t.api.memory_copy_p2p(to, targets[to]->ptr, from, sources[from]->ptr, size));
        }
    });
    t.expect(*targets[1], up, "from device 0");
    t.expect(*targets[0], down, "from device 1");
}

// One pair of devices after the other, at odd offsets, both ways.
HAL_CASE("45079.T2.memory_copy_p2p.norm.every_pair", clauses{"45079/T2.10"}, authority::S,
         needs{E::memory_copy_p2p, memory_io(), devices(2)})
(Test& t) {
    constexpr uint64_t shapes[] = {1, 63, 257, 4097, 65'537, (1U << 20U) + 1};
    for (hal_dev from = 0; from < t.facts.device_count; ++from) {
        for (hal_dev to = 0; to < t.facts.device_count; ++to) {
            for (const uint64_t size : shapes) {
                const auto in = t.context("size", size);
                const uint64_t at = any_offset[t.random() % std::size(any_offset)];
                const uint64_t first = any_offset[t.random() % std::size(any_offset)];
                const Pattern pattern = t.pattern();
                DeviceBuffer& source = t.device(pattern, size + 64, from);
                DeviceBuffer& target = t.device(size + 128, to);
                t.ok(t.api.memory_copy_p2p(to, target.ptr + at, from, source.ptr + first, size));
                expect_window(t, target, at, size, pattern, first);
                t.release(source);
                t.release(target);
            }
        }
    }
}

HAL_CASE("45079.T2.memory_copy_p2p.norm.source_unchanged", clauses{"45079/T2.10"}, authority::D,
         needs{E::memory_copy_p2p, memory_io(), devices(2)})
(Test& t) {
    for (const hal_dev from : {0, 1}) {
        const Pattern pattern = t.pattern();
        const DeviceBuffer& source = t.device(pattern, 50'021, from);
        const DeviceBuffer& target = t.device(50'021, 1 - from);
        t.ok(t.api.memory_copy_p2p(1 - from, target.ptr, from, source.ptr, 50'021));
        t.expect(source, pattern, "the source after the copy");
    }
}

// Read by both devices right after the call, with no wait in between.
HAL_CASE("45079.T2.memory_copy_p2p.norm.complete_on_return", clauses{"45079/T2.10", "45280/5.3.1"}, authority::S,
         needs{E::memory_copy_p2p, memory_io(), devices(2)})
(Test& t) {
    constexpr uint64_t size = (2U << 20U) + 3;
    const DeviceBuffer* buffers[] = {&t.device(size, 0), &t.device(size, 1)};
    for (int i = 0; i < 10; ++i) {
        const Pattern pattern = t.pattern();
        const hal_dev from = i % 2;
        t.write(*buffers[from], pattern);
        t.ok(t.api.memory_copy_p2p(1 - from, buffers[1 - from]->ptr, from, buffers[from]->ptr, size));
        t.expect(*buffers[1 - from], pattern, "the destination, read by its device");
        t.expect(*buffers[from], pattern, "the source, read by its device");
    }
}

HAL_CASE("45079.T2.memory_copy_p2p.norm.same_device", clauses{"45079/T2.10"}, authority::A,
         needs{E::memory_copy_p2p, memory_io()})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const Pattern pattern = t.pattern();
        const DeviceBuffer& source = t.device(pattern, 4099, dev);
        const DeviceBuffer& target = t.device(4099, dev);
        t.ok(t.api.memory_copy_p2p(dev, target.ptr, dev, source.ptr, 4099));
        t.expect(target, pattern, "the destination on the same device");
    }
}

// Without access between the devices the copy still arrives, by way of the host.
HAL_CASE("45079.T2.memory_copy_p2p.norm.no_peer_access", clauses{"45079/T2.10"}, authority::D,
         needs{E::memory_copy_p2p, E::peer_access_query, memory_io(), devices(2)})
(Test& t) {
    if (t.api.peer_access_disable) {
        (void)t.api.peer_access_disable(0, 1);  // an error if it was not enabled
        (void)t.api.peer_access_disable(1, 0);
    }
    for (const hal_dev from : {0, 1}) {
        int32_t possible = INT32_MIN;
        t.ok(t.api.peer_access_query(1 - from, from, &possible));
        const Pattern pattern = t.pattern();
        const DeviceBuffer& source = t.device(pattern, 30'011, from);
        const DeviceBuffer& target = t.device(30'011, 1 - from);
        t.ok(t.api.memory_copy_p2p(1 - from, target.ptr, from, source.ptr, 30'011));
        t.expect(target, pattern, "the destination, whatever the access between the devices");
    }
}

// All devices in a ring, each hands its data to the next, 100 rounds at once.
HAL_CASE("45079.T2.memory_copy_p2p.conc.ring", clauses{"45079/T2.10"}, authority::D,
         needs{E::memory_copy_p2p, memory_io(), devices(2), free_threads})
(Test& t) {
    constexpr uint64_t size = 20'011;
    const int count = t.facts.device_count;
    std::vector<const DeviceBuffer*> sources;
    std::vector<const DeviceBuffer*> targets;
    std::vector<Pattern> patterns;
    for (hal_dev dev = 0; dev < count; ++dev) {
        patterns.push_back(t.pattern());
        sources.push_back(&t.device(patterns.back(), size, dev));
        targets.push_back(&t.device(size, dev));
    }
    t.threads(count, [&](int thread) {
        const auto from = static_cast<size_t>(thread);
        const auto to = (from + 1) % sources.size();
        for (int i = 0; i < 100; ++i) {
            t.ok(t.api.memory_copy_p2p(static_cast<hal_dev>(to), targets[to]->ptr, thread, sources[from]->ptr, size));
        }
    });
    for (size_t from = 0; from < sources.size(); ++from) {
        t.expect(*targets[(from + 1) % sources.size()], patterns[from], "data of the device before in the ring");
    }
}

}  // namespace
}  // namespace hal::conformance

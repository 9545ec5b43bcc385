// Table 2: synchronous copies and set. Complete on return, every byte, nothing around it.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t sizes[] = {1,         2,
                              3,         7,
                              8,         15,
                              16,        31,
                              63,        64,
                              65,        255,
                              256,       257,
                              4095,      4096,
                              4097,      65535,
                              65537,     (1U << 20U) - 1,
                              1U << 20U, (1U << 20U) + 1};
constexpr uint64_t offsets[] = {0, 1, 2, 3, 4, 7, 8, 16, 63};
constexpr uint64_t large = (16U << 20U) + 13;

// Runs f(size, first offset, second offset): every small size with every pair, the others with one pair each.
void each_shape(Test& t, const std::function<void(uint64_t, uint64_t, uint64_t)>& f) {
    for (const uint64_t size : sizes) {
        const auto in = t.context("size", size);
        if (size > 300) {
            f(size, offsets[t.random() % std::size(offsets)], offsets[t.random() % std::size(offsets)]);
            continue;
        }
        for (const uint64_t first : offsets) {
            f(size, first, offsets[t.random() % std::size(offsets)]);
        }
    }
    f(large, 3, 1);
}

// A device buffer of which [offset, offset + size) should hold the pattern and the rest the poison.
void expect_window(Test& t, const DeviceBuffer& buffer, uint64_t offset, uint64_t size, const Pattern& pattern) {
    HostBuffer back(buffer.size);
    t.ok(t.api.memory_copy_d2h(buffer.dev, back.data(), buffer.ptr, buffer.size));
    t.check(!compare(back.data(), poison, offset), "nothing is written before the range");
    t.check(!compare(back.data() + offset, pattern, size), "every byte of the range is right");
    t.check(!compare(back.data() + offset + size, poison, buffer.size - offset - size),
            "nothing is written behind the range");
}

HAL_CASE("45079.T2.memory_copy_h2d.norm.full", clauses{"45079/T2.7"}, authority::S,
         needs{E::memory_copy_h2d, memory_io()})
(Test& t) {
    each_shape(t, [&](uint64_t size, uint64_t device_offset, uint64_t host_offset) {
        DeviceBuffer& to = t.device(size + 128);
        const Pattern pattern = t.pattern();
        HostBuffer source(size + host_offset);
        pattern.write(source.data() + host_offset, size);
        t.ok(t.api.memory_copy_h2d(0, to.ptr + device_offset, source.data() + host_offset, size));
        std::memset(source.data(), 0, source.size());  // complete on return: the source may change at once
        expect_window(t, to, device_offset, size, pattern);
        t.release(to);
    });
}

HAL_CASE("45079.T2.memory_copy_d2h.norm.full", clauses{"45079/T2.8"}, authority::S,
         needs{E::memory_copy_d2h, memory_io()})
(Test& t) {
    each_shape(t, [&](uint64_t size, uint64_t device_offset, uint64_t host_offset) {
        const Pattern pattern = t.pattern();
        DeviceBuffer& from = t.device(pattern, size + 128);
        HostBuffer to(size + host_offset + 16);
        t.ok(t.api.memory_copy_d2h(0, to.data() + host_offset, from.ptr + device_offset, size));
        t.check(!compare(to.data(), poison, host_offset), "nothing is written before the range");
        t.check(!compare(to.data() + host_offset, pattern, size, device_offset), "every byte of the range is right");
        t.check(!compare(to.data() + host_offset + size, poison, 16), "nothing is written behind the range");
        t.check(to.guards_intact(), "the guards of the destination");
        t.release(from);
    });
}

HAL_CASE("45079.T2.memory_copy_d2h.norm.reads_not_writes", clauses{"45079/T2.8"}, authority::D,
         needs{E::memory_copy_d2h, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, 5001);
    HostBuffer to(5001);
    t.ok(t.api.memory_copy_d2h(0, to.data(), from.ptr, 5001));
    t.expect(from, pattern, "the source after the copy");
}

// A second path: data that a set wrote, so that a fault which undoes itself in a round trip shows.
HAL_CASE("45079.T2.memory_copy_d2h.norm.after_set", clauses{"45079/T2.8", "45079/T2.15"}, authority::S,
         needs{E::memory_copy_d2h, memory_io(), E::device_memory_set})
(Test& t) {
    const DeviceBuffer& buffer = t.device(70'001);
    t.ok(t.api.device_memory_set(0, buffer.ptr, 0x6B, buffer.size));
    t.expect(buffer, uint8_t{0x6B}, "set, then read");
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.full", clauses{"45079/T2.9"}, authority::S,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    each_shape(t, [&](uint64_t size, uint64_t to_offset, uint64_t from_offset) {
        const Pattern pattern = t.pattern();
        DeviceBuffer& from = t.device(pattern, size + 128);
        DeviceBuffer& to = t.device(size + 128);
        t.ok(t.api.memory_copy_d2d(0, to.ptr + to_offset, from.ptr + from_offset, size));
        HostBuffer back(to.size);
        t.ok(t.api.memory_copy_d2h(0, back.data(), to.ptr, to.size));
        t.check(!compare(back.data(), poison, to_offset), "nothing is written before the range");
        t.check(!compare(back.data() + to_offset, pattern, size, from_offset), "every byte of the range is right");
        t.check(!compare(back.data() + to_offset + size, poison, 128 - to_offset),
                "nothing is written behind the range");
        t.expect(from, pattern, "the source after the copy");
        t.release(from);
        t.release(to);
    });
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.complete_on_return", clauses{"45079/T2.9", "45280/5.3.1"}, authority::S,
         needs{E::memory_copy_d2d, memory_io(), E::create_stream, E::async_memory_copy_d2h})
(Test& t) {
    constexpr uint64_t size = (8U << 20U) + 5;
    const hal_stream other = t.stream();
    HostBuffer& back = t.host(size);
    const DeviceBuffer& from = t.device(size);
    const DeviceBuffer& to = t.device(size);
    for (int i = 0; i < 10; ++i) {
        const Pattern pattern = t.pattern();
        t.write(from, pattern);
        t.ok(t.api.memory_copy_d2d(0, to.ptr, from.ptr, size));
        // Another stream reads the destination without any wait.
        t.ok(t.api.async_memory_copy_d2h(0, other, back.data(), to.ptr, size));
        t.sync(other);
        t.expect(back, pattern, "what another stream reads right after the copy");
    }
}

HAL_CASE("45079.T2.memory_copy_d2d.edge.overlap", clauses{"45079/T2.9"}, authority::A,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    for (const uint64_t size : {uint64_t{200}, uint64_t{100'001}, uint64_t{12U << 20U}}) {
        for (const uint64_t shift : {1, 7, 64}) {
            const Pattern pattern = t.pattern();
            DeviceBuffer& up = t.device(pattern, size + shift);
            t.ok(t.api.memory_copy_d2d(0, up.ptr + shift, up.ptr, size), "dst above src");
            DeviceBuffer& down = t.device(pattern, size + shift);
            t.ok(t.api.memory_copy_d2d(0, down.ptr, down.ptr + shift, size), "dst below src");
            HostBuffer back(size + shift);
            t.ok(t.api.memory_copy_d2h(0, back.data(), up.ptr, size + shift));
            t.check(!compare(back.data() + shift, pattern, size), "moved up as memmove does");
            t.check(!compare(back.data(), pattern, shift), "the bytes below the destination");
            t.ok(t.api.memory_copy_d2h(0, back.data(), down.ptr, size + shift));
            t.check(!compare(back.data(), pattern, size, shift), "moved down as memmove does");
            t.release(up);
            t.release(down);
        }
    }
}

HAL_CASE("45079.T2.memory_copy_d2d.edge.same_and_adjacent", clauses{"45079/T2.9"}, authority::A,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 2000);
    t.ok(t.api.memory_copy_d2d(0, buffer.ptr, buffer.ptr, 2000), "onto itself");
    t.expect(buffer, pattern, "data after a copy onto itself");
    t.ok(t.api.memory_copy_d2d(0, buffer.ptr + 1000, buffer.ptr, 1000), "touching ranges");
    HostBuffer back(2000);
    t.ok(t.api.memory_copy_d2h(0, back.data(), buffer.ptr, 2000));
    t.check(!compare(back.data(), pattern, 1000), "the first half");
    t.check(!compare(back.data() + 1000, pattern, 1000), "its copy");
}

HAL_CASE("45079.T2.device_memory_set.norm.every_value", clauses{"45079/T2.15"}, authority::S,
         needs{E::device_memory_set, memory_io()})
(Test& t) {
    const DeviceBuffer& buffer = t.device(301);
    for (uint32_t value = 0; value < 256; ++value) {
        t.ok(t.api.device_memory_set(0, buffer.ptr, value, buffer.size));
        t.expect(buffer, static_cast<uint8_t>(value), "the value");
        t.ok(t.api.device_memory_set(0, buffer.ptr, 0xABCD'EF00U | (value ^ 0xFFU), buffer.size));
        t.expect(buffer, static_cast<uint8_t>(value ^ 0xFFU), "the low byte of a wide value");
    }
}

HAL_CASE("45079.T2.device_memory_set.norm.full", clauses{"45079/T2.15", "45280/5.3.1"}, authority::S,
         needs{E::device_memory_set, memory_io()})
(Test& t) {
    each_shape(t, [&](uint64_t size, uint64_t offset, uint64_t) {
        DeviceBuffer& buffer = t.device(size + 128);
        t.ok(t.api.device_memory_set(0, buffer.ptr + offset, 0x3C, size));
        HostBuffer back(buffer.size);
        t.ok(t.api.memory_copy_d2h(0, back.data(), buffer.ptr, buffer.size));
        t.check(!compare(back.data(), poison, offset), "nothing is written before the range");
        t.check(!compare(back.data() + offset, uint8_t{0x3C}, size), "every byte of the range");
        t.check(!compare(back.data() + offset + size, poison, 128 - offset), "nothing is written behind the range");
        t.release(buffer);
    });
}

// ---- Two devices ----

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
         needs{E::memory_copy_p2p, memory_io(), devices(2)})
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

HAL_CASE("45079.T2.device_memory_allocate.life.data_isolated", clauses{"45079/T2.1", "45079/T1.5"}, authority::D,
         needs{E::device_memory_allocate, memory_io(), E::set_device, devices(2)})
(Test& t) {
    t.ok(t.api.set_device(1));  // an explicit device wins over the current one
    std::vector<std::pair<DeviceBuffer*, Pattern>> all;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const Pattern pattern = t.pattern();
        all.emplace_back(&t.device(pattern, 4097, dev), pattern);
    }
    for (const auto& [buffer, pattern] : all) {
        t.expect(*buffer, pattern, "data after all devices were written");
    }
}

HAL_CASE("45079.T2.memory_copy_h2d.conc.threads8", clauses{"45079/T2.7"}, authority::D,
         needs{E::memory_copy_h2d, memory_io()})
(Test& t) {
    std::vector<DeviceBuffer*> buffers;
    for (int i = 0; i < 8; ++i) {
        buffers.push_back(&t.device(3001, i % t.facts.device_count));
    }
    t.threads(8, [&](int thread) {
        const DeviceBuffer& mine = *buffers[static_cast<size_t>(thread)];
        for (uint64_t i = 0; i < 100; ++i) {
            const Pattern pattern(i, 100 + static_cast<uint64_t>(thread));
            HostBuffer source(3001);
            source.write(pattern);
            t.ok(t.api.memory_copy_h2d(mine.dev, mine.ptr, source.data(), 3001));
            t.expect(mine, pattern, "this thread's data");
        }
    });
}

}  // namespace
}  // namespace hal::conformance

// Table 2: synchronous copies and set. Complete on return, every byte, nothing around it.
#include "memory_checks.hpp"

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
constexpr uint64_t large = (16U << 20U) + 13;

// Runs f(size, first offset, second offset): every small size with every pair, the others with one pair each.
void each_shape(Test& t, const std::function<void(uint64_t, uint64_t, uint64_t)>& f) {
    for (const uint64_t size : sizes) {
        const auto in = t.context("size", size);
        if (size > 300) {
            f(size, any_offset[t.random() % std::size(any_offset)], any_offset[t.random() % std::size(any_offset)]);
            continue;
        }
        for (const uint64_t first : any_offset) {
            f(size, first, any_offset[t.random() % std::size(any_offset)]);
        }
    }
    f(large, 3, 1);
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
        HostBuffer& to = t.keep<HostBuffer>(size + host_offset + 16);  // a late write must find it
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
        expect_window(t, to, to_offset, size, pattern, from_offset);
        t.expect(from, pattern, "the source after the copy");
        t.release(from);
        t.release(to);
    });
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

HAL_CASE("45079.T2.memory_copy_d2d.edge.same_pointer", clauses{"45079/T2.9"}, authority::A,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 2000);
    t.ok(t.api.memory_copy_d2d(0, buffer.ptr, buffer.ptr, 2000), "onto itself");
    t.expect(buffer, pattern, "data after a copy onto itself");
}

HAL_CASE("45079.T2.memory_copy_d2d.edge.adjacent", clauses{"45079/T2.9"}, authority::D,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    for (const uint64_t half : {uint64_t{1}, uint64_t{7}, uint64_t{1000}, uint64_t{70'001}}) {
        const auto in = t.context("size", half);
        const Pattern pattern = t.pattern();
        for (const bool up : {true, false}) {
            DeviceBuffer& buffer = t.device(pattern, 2 * half);
            const uint64_t to = up ? half : 0;
            const uint64_t from = half - to;
            t.ok(t.api.memory_copy_d2d(0, buffer.ptr + to, buffer.ptr + from, half), "touching ranges");
            HostBuffer back(2 * half);
            t.ok(t.api.memory_copy_d2h(0, back.data(), buffer.ptr, 2 * half));
            t.check(!compare(back.data() + from, pattern, half, from), "the half that was copied from");
            t.check(!compare(back.data() + to, pattern, half, from), "the half that was copied to");
            t.release(buffer);
        }
    }
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.within_one_allocation", clauses{"45079/T2.9"}, authority::D,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    constexpr uint64_t size = 10'000;
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 4 * size);
    t.ok(t.api.memory_copy_d2d(0, buffer.ptr + 3 * size + 1, buffer.ptr + 5, size - 1));
    HostBuffer back(4 * size);
    t.ok(t.api.memory_copy_d2h(0, back.data(), buffer.ptr, 4 * size));
    t.check(!compare(back.data(), pattern, 3 * size + 1), "everything before the destination");
    t.check(!compare(back.data() + 3 * size + 1, pattern, size - 1, 5), "the destination");
}

HAL_CASE("45079.T2.memory_copy_d2d.norm.source_unchanged", clauses{"45079/T2.9"}, authority::D,
         needs{E::memory_copy_d2d, memory_io()})
(Test& t) {
    for (const uint64_t size : {uint64_t{1}, uint64_t{4097}, (uint64_t{1} << 20U) + 1}) {
        const Pattern pattern = t.pattern();
        const DeviceBuffer& from = t.device(pattern, size);
        const DeviceBuffer& to = t.device(size);
        t.ok(t.api.memory_copy_d2d(0, to.ptr, from.ptr, size));
        t.expect(from, pattern, "the source after the copy");
    }
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

HAL_CASE("45079.T2.device_memory_set.norm.low_byte_only", clauses{"45079/T2.15"}, authority::A,
         needs{E::device_memory_set, memory_io()})
(Test& t) {
    const DeviceBuffer& buffer = t.device(1025);
    for (const uint32_t value : {0x0000'0100U, 0x1234'5678U, 0xFFFF'FF00U, 0xFFFF'FFFFU, 0x8000'0041U}) {
        const auto in = t.context("value", value);
        t.ok(t.api.device_memory_set(0, buffer.ptr, value, buffer.size));
        t.expect(buffer, static_cast<uint8_t>(value & 0xFFU), "the low byte");
    }
}

HAL_CASE("45079.T2.device_memory_set.order.not_before_previous_sync_copy", clauses{"45079/T2.15"}, authority::D,
         needs{E::device_memory_set, memory_io()})
(Test& t) {
    constexpr uint64_t size = 300'007;
    const DeviceBuffer& buffer = t.device(size);
    for (int i = 0; i < 50; ++i) {
        t.write(buffer, t.pattern());
        t.ok(t.api.device_memory_set(0, buffer.ptr, static_cast<uint32_t>(i + 1), size));
        t.expect(buffer, static_cast<uint8_t>(i + 1), "the set, which came after the copy");
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

}  // namespace
}  // namespace hal::conformance

// memory_ext: stream-ordered, strided, aligned and registered memory, attributes, peers.
#include <sys/mman.h>

#include "struct_checks.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("hal.memory_ext.async_memory_set.norm.full", clauses{"46345/T5"}, authority::S,
         needs{E::async_memory_set, memory_io()})
(Test& t) {
    const hal_stream s = t.stream();
    for (const uint64_t size : {1, 3, 64, 65, 4097, 1'000'003}) {
        const auto in = t.context("size", size);
        const DeviceBuffer& buffer = t.device(size);
        t.ok(t.api.async_memory_set(0, s, buffer.ptr, 0x1234'5677U, size));
        t.sync(s);
        t.expect(buffer, uint8_t{0x77}, "the low byte of the value, in every byte");
    }
}

HAL_CASE("hal.memory_ext.async_memory_set.order.not_before_gate", clauses{"46345/T5"}, authority::D,
         needs{E::async_memory_set, memory_io(), a_gate, host_accessible})
(Test& t) {
    const hal_stream s = t.stream();
    const DeviceBuffer& buffer = t.device(3001);
    const Gate g = t.gate(s);
    t.ok(t.returns([&] { return t.api.async_memory_set(0, s, buffer.ptr, 0x77, buffer.size); }, g));
    t.expect_unwritten(buffer, g);
    g.open();
    t.sync(s);
    t.expect(buffer, uint8_t{0x77}, "the value");
}

// ---- Stream-ordered allocation ----

HAL_CASE("hal.memory_ext.async_memory_allocate.norm.usable", clauses{"46345/T5"}, authority::S,
         needs{E::async_memory_allocate, E::async_memory_deallocate, memory_io(), E::async_memory_copy_h2d,
               E::async_memory_copy_d2h, a_gate})
(Test& t) {
    constexpr uint64_t size = 20'011;
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, size);
    HostBuffer& back = t.host(size);
    const Gate g = t.gate(s);
    hal_dptr ptr = 0;
    // All of it is enqueued before any of it can run.
    t.ok(t.returns([&] { return t.api.async_memory_allocate(0, s, size, &ptr); }, g));
    t.check(ptr != 0 && ptr % 256 == 0, "an address, aligned to 256 bytes");
    t.ok(t.api.async_memory_copy_h2d(0, s, ptr, source.data(), size));
    t.ok(t.api.async_memory_copy_d2h(0, s, back.data(), ptr, size));
    t.ok(t.returns([&] { return t.api.async_memory_deallocate(0, s, ptr); }, g));
    g.open();
    t.sync(s);
    t.expect(back, pattern, "data through memory of the stream");
}

HAL_CASE("hal.memory_ext.async_memory_allocate.norm.many_cycles", clauses{"46345/T5", "46345/A6.c"}, authority::S,
         needs{E::async_memory_allocate, E::async_memory_deallocate, E::device_memory_stats, E::device_max_alloc_size})
(Test& t) {
    const hal_stream s = t.stream();
    uint64_t whole = 0;
    t.ok(t.api.device_max_alloc_size(0, &whole));
    for (int i = 0; i < 100; ++i) {
        hal_dptr ptr = 0;
        if (!t.ok(t.api.async_memory_allocate(0, s, whole / 4, &ptr), "a quarter of the memory, again")) {
            return;
        }
        t.ok(t.api.async_memory_deallocate(0, s, ptr));
        t.sync(s);
    }
    hal_memory_stats stats{};
    stats.header.size = sizeof stats;
    t.ok(t.api.device_memory_stats(0, &stats));
    t.eq(uint64_t{0}, stats.live_allocations, "live allocations at the end");
}

HAL_CASE("hal.memory_ext.async_memory_allocate.err.refusals", clauses{"46345/T5"}, authority::A,
         needs{E::async_memory_allocate})
(Test& t) {
    hal_dptr ptr = 77;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.async_memory_allocate(0, nullptr, 0, &ptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.async_memory_allocate(0, nullptr, 256, nullptr); });
    t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY,
            [&] { return t.api.async_memory_allocate(0, nullptr, UINT64_MAX - 63, &ptr); });
    t.eq(hal_dptr{77}, ptr, "the output after the refusals");
}

HAL_CASE("hal.memory_ext.async_memory_deallocate.norm.waits_its_turn", clauses{"46345/T5"}, authority::D,
         needs{E::async_memory_deallocate, memory_io(), E::async_memory_copy_d2h, a_gate})
(Test& t) {
    constexpr uint64_t size = 4099;
    const hal_stream s = t.stream();
    const Pattern pattern = t.pattern();
    DeviceBuffer& buffer = t.device(pattern, size);
    HostBuffer& back = t.host(size);
    const Gate g = t.gate(s);
    t.ok(t.api.async_memory_copy_d2h(0, s, back.data(), buffer.ptr, size));
    t.ok(t.api.async_memory_deallocate(0, s, buffer.base));
    buffer.released = true;
    g.open();
    t.sync(s);
    t.expect(back, pattern, "what was read before the release had its turn");
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.device_memory_deallocate(0, buffer.base, 0); });
}

HAL_CASE("hal.memory_ext.async_memory_deallocate.err.unknown_pointer", clauses{"46345/T5"}, authority::A,
         needs{E::async_memory_deallocate, memory_io()})
(Test& t) {
    const DeviceBuffer& buffer = t.device(512);
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.async_memory_deallocate(0, nullptr, buffer.ptr); });
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.async_memory_deallocate(0, nullptr, 1); });
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT), "the refusals leave no sticky error");
    t.expect(buffer, poison, "the block that was named by an inner address");
}

// ---- 2-D ----

hal_copy_2d copy_of(uint32_t direction, uint64_t dst, uint64_t dst_pitch, uint64_t src, uint64_t src_pitch,
                    uint64_t width, uint64_t height) {
    return {{sizeof(hal_copy_2d), 0, nullptr}, direction, 0, dst, dst_pitch, src, src_pitch, width, height};
}

void check_2d(Test& t, const std::function<hal_status(const hal_copy_2d&)>& run) {
    constexpr uint64_t width = 37;
    constexpr uint64_t height = 19;
    constexpr uint64_t wide = 64;
    constexpr uint64_t narrow = 41;
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, wide * height);
    const DeviceBuffer& first = t.device(narrow * height);
    const DeviceBuffer& second = t.device(width * height);
    HostBuffer& back = t.host(wide * height);
    t.ok(run(copy_of(HAL_COPY_H2D, first.ptr, narrow, reinterpret_cast<uint64_t>(source.data()), wide, width, height)));
    t.ok(run(copy_of(HAL_COPY_D2D, second.ptr, width, first.ptr, narrow, width, height)));
    t.ok(run(copy_of(HAL_COPY_D2H, reinterpret_cast<uint64_t>(back.data()), wide, second.ptr, width, width, height)));
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    HostBuffer image(narrow * height);
    t.ok(t.api.memory_copy_d2h(0, image.data(), first.ptr, image.size()));
    for (uint64_t row = 0; row < height; ++row) {
        const auto in = t.context("row", row);
        t.check(!compare(image.data() + row * narrow, pattern, width, row * wide), "the row on the device");
        t.check(!compare(image.data() + row * narrow + width, poison, narrow - width),
                "the bytes between rows on the device");
        t.check(!compare(back.data() + row * wide, pattern, width, row * wide), "the row on the host");
        t.check(!compare(back.data() + row * wide + width, poison, wide - width), "the bytes between rows on the host");
    }
}

void check_2d_refusals(Test& t, const std::function<hal_status(const hal_copy_2d*)>& run) {
    const DeviceBuffer& buffer = t.device(4096);
    const hal_dptr half = buffer.ptr + 2048;
    auto copy = copy_of(HAL_COPY_D2D, buffer.ptr, 64, half, 64, 32, 8);
    t.ok(run(&copy), "a copy that is right");
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return run(nullptr); });
    copy = copy_of(77, buffer.ptr, 64, half, 64, 32, 8);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return run(&copy); });
    copy = copy_of(HAL_COPY_D2D, buffer.ptr, 31, half, 64, 32, 8);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return run(&copy); });
    copy = copy_of(HAL_COPY_D2D, buffer.ptr, 64, half, 31, 32, 8);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return run(&copy); });
    copy = copy_of(HAL_COPY_D2D, buffer.ptr, UINT64_MAX / 2, half, 64, 32, 8);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return run(&copy); });
    copy = copy_of(HAL_COPY_D2D, 0, 64, half, 64, 32, 8);
    t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_INVALID_HANDLE}, [&] { return run(&copy); });
    copy = copy_of(HAL_COPY_D2D, 0, 64, 0, 64, 0, 8);
    t.ok(run(&copy), "no bytes in a row");
    copy = copy_of(HAL_COPY_D2D, 0, 64, 0, 64, 32, 0);
    t.ok(run(&copy), "no rows");
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
}

HAL_CASE("hal.memory_ext.memory_copy_2d.norm.full", clauses{"45079/T2.9"}, authority::A,
         needs{E::memory_copy_2d, memory_io()})
(Test& t) {
    check_2d(t, [&](const hal_copy_2d& copy) { return t.api.memory_copy_2d(0, &copy); });
}
HAL_CASE("hal.memory_ext.memory_copy_2d.err.refusals", clauses{"45079/T2.9"}, authority::A,
         needs{E::memory_copy_2d, memory_io()})
(Test& t) {
    check_2d_refusals(t, [&](const hal_copy_2d* copy) { return t.api.memory_copy_2d(0, copy); });
}
HAL_CASE("hal.memory_ext.async_memory_copy_2d.norm.full", clauses{"45079/T2.13"}, authority::A,
         needs{E::async_memory_copy_2d, memory_io()})
(Test& t) {
    const hal_stream s = t.stream();
    check_2d(t, [&](const hal_copy_2d& copy) { return t.api.async_memory_copy_2d(0, s, &copy); });
}
HAL_CASE("hal.memory_ext.async_memory_copy_2d.err.refusals", clauses{"45079/T2.13"}, authority::A,
         needs{E::async_memory_copy_2d, memory_io()})
(Test& t) {
    const hal_stream s = t.stream();
    check_2d_refusals(t, [&](const hal_copy_2d* copy) { return t.api.async_memory_copy_2d(0, s, copy); });
}

// ---- Aligned ----

HAL_CASE("hal.memory_ext.aligned_memory_allocate.norm.each_alignment", clauses{"45079/T2.1"}, authority::A,
         needs{E::aligned_memory_allocate, memory_io()})
(Test& t) {
    std::vector<hal_dptr> between;  // live blocks of odd sizes, so that no address is aligned by luck
    for (uint64_t alignment = 1; alignment <= 2U << 20U; alignment *= 2) {
        const auto in = t.context("alignment", alignment);
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(0, 300 + alignment / 2, &between.emplace_back()));
        t.ok(t.api.aligned_memory_allocate(0, 1000, alignment, &ptr));
        t.check(ptr != 0 && ptr % std::max<uint64_t>(alignment, 256) == 0, "an address of the alignment, 256 at least");
        const Pattern pattern = t.pattern();
        HostBuffer& source = t.host(pattern, 1000);
        HostBuffer& back = t.host(1000);
        t.ok(t.api.memory_copy_h2d(0, ptr, source.data(), 1000));
        t.ok(t.api.memory_copy_d2h(0, back.data(), ptr, 1000));
        t.expect(back, pattern, "data");
        t.ok(t.api.device_memory_deallocate(0, ptr, 1000));
    }
    for (const hal_dptr block : between) {
        t.ok(t.api.device_memory_deallocate(0, block, 0));
    }
}

HAL_CASE("hal.memory_ext.aligned_memory_allocate.err.refusals", clauses{"45079/T2.1"}, authority::A,
         needs{E::aligned_memory_allocate})
(Test& t) {
    hal_dptr ptr = 77;
    for (const uint64_t alignment : {uint64_t{0}, uint64_t{3}, uint64_t{4U << 20U}, UINT64_MAX}) {
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.aligned_memory_allocate(0, 256, alignment, &ptr); });
    }
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.aligned_memory_allocate(0, 0, 256, &ptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.aligned_memory_allocate(0, 256, 256, nullptr); });
    t.fails(HAL_ERROR_OUT_OF_DEVICE_MEMORY,
            [&] { return t.api.aligned_memory_allocate(0, UINT64_MAX - 4095, 2U << 20U, &ptr); });
    t.eq(hal_dptr{77}, ptr, "the output after the refusals");
}

}  // namespace
}  // namespace hal::conformance

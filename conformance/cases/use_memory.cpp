// Table 2: one use of each entry, for the cases of use.hpp.
#include "use.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t size = 1031;

struct Data {
    explicit Data(Test& t) : pattern(t.pattern()), host(size) { host.write(pattern); }
    Pattern pattern;
    HostBuffer host;
};

// The address belongs to the device that was named, where the plug-in can say so.
void expect_on(Test& t, hal_dptr ptr, hal_dev dev) {
    if (t.api.get_memory_attributes) {
        hal_memory_attributes attributes{};
        attributes.header.size = sizeof attributes;
        t.ok(t.api.get_memory_attributes(ptr, &attributes));
        t.eq(dev, attributes.device, "device of the memory");
    }
}

void allocate_write_read_release(Test& t, hal_dev dev) {
    const Data data(t);
    const Block block(t, dev, data.host);
    expect_on(t, block.ptr(), dev);
    block.expect(data.pattern, "data");
}

HAL_DEVICE_USE(2, 1, device_memory_allocate, "leak.loop", authority::S, memory_io()) {
    allocate_write_read_release(t, dev);
}
HAL_DEVICE_USE(2, 2, device_memory_deallocate, "leak.trend", authority::S, memory_io()) {
    allocate_write_read_release(t, dev);
}

void use_host(Test& t, hal_dev dev) {
    void* ptr = nullptr;
    const Pattern pattern = t.pattern();
    t.ok(t.api.host_memory_allocate(dev, size, &ptr));
    if (ptr != nullptr) {
        pattern.write(ptr, size);
        t.check(!compare(ptr, pattern, size), "the host reads what it wrote");
        t.ok(t.api.host_memory_deallocate(dev, ptr, size));
    }
}

HAL_DEVICE_USE(2, 3, host_memory_allocate, "leak.loop", authority::D, E::host_memory_deallocate) {
    use_host(t, dev);
}
HAL_DEVICE_USE(2, 4, host_memory_deallocate, "leak.trend", authority::D, E::host_memory_allocate) {
    use_host(t, dev);
}

void use_unified(Test& t, hal_dev dev) {
    hal_dptr ptr = 0;
    const Pattern pattern = t.pattern();
    t.ok(t.api.unified_memory_allocate(dev, size, &ptr));
    if (ptr != 0) {
        expect_on(t, ptr, dev);
        pattern.write(reinterpret_cast<void*>(ptr), size);
        t.check(!compare(reinterpret_cast<const void*>(ptr), pattern, size), "the host reads what it wrote");
        t.ok(t.api.unified_memory_deallocate(dev, ptr, size));
    }
}

HAL_DEVICE_USE(2, 5, unified_memory_allocate, "leak.loop", authority::D, E::unified_memory_deallocate) {
    use_unified(t, dev);
}
HAL_DEVICE_USE(2, 6, unified_memory_deallocate, "leak.trend", authority::D, E::unified_memory_allocate) {
    use_unified(t, dev);
}

// ---- Synchronous copies ----

HAL_DEVICE_USE(2, 7, memory_copy_h2d, "leak.loop", authority::D, memory_io()) {
    const Data data(t);
    const Block block(t, dev, size);
    t.ok(t.api.memory_copy_h2d(dev, block.ptr(), data.host.data(), size));
    block.expect(data.pattern, "what was copied to the device");
}
HAL_DEVICE_USE(2, 8, memory_copy_d2h, "leak.loop", authority::D, memory_io()) {
    const Data data(t);
    const Block block(t, dev, data.host);
    const HostBuffer back(size);
    t.ok(t.api.memory_copy_d2h(dev, back.data(), block.ptr(), size));
    t.expect(back, data.pattern, "what was copied from the device");
}
HAL_DEVICE_USE(2, 9, memory_copy_d2d, "leak.loop", authority::D, memory_io()) {
    const Data data(t);
    const Block from(t, dev, data.host);
    const Block to(t, dev, size);
    t.ok(t.api.memory_copy_d2d(dev, to.ptr(), from.ptr(), size));
    to.expect(data.pattern, "what was copied within the device");
}
HAL_DEVICE_USE(2, 10, memory_copy_p2p, "leak.loop", authority::D, memory_io()) {
    const hal_dev target = t.facts.device_count - 1 - dev;
    const Data data(t);
    const Block from(t, dev, data.host);
    const Block to(t, target, size);
    t.ok(t.api.memory_copy_p2p(target, to.ptr(), dev, from.ptr(), size));
    to.expect(data.pattern, "what was copied to the other device");
}

// ---- Asynchronous copies ----

HAL_DEVICE_USE(2, 11, async_memory_copy_h2d, "leak.loop", authority::D, memory_io()) {
    const Data data(t);
    const Block block(t, dev, size);
    const OwnStream stream(t, dev);
    t.ok(t.api.async_memory_copy_h2d(dev, stream.get(), block.ptr(), data.host.data(), size));
    t.sync(stream.get(), dev);
    block.expect(data.pattern, "what was copied to the device");
}
HAL_DEVICE_USE(2, 12, async_memory_copy_d2h, "leak.loop", authority::D, memory_io()) {
    const Data data(t);
    const Block block(t, dev, data.host);
    const HostBuffer back(size);
    const OwnStream stream(t, dev);
    t.ok(t.api.async_memory_copy_d2h(dev, stream.get(), back.data(), block.ptr(), size));
    t.sync(stream.get(), dev);
    t.expect(back, data.pattern, "what was copied from the device");
}
HAL_DEVICE_USE(2, 13, async_memory_copy_d2d, "leak.loop", authority::D, memory_io()) {
    const Data data(t);
    const Block from(t, dev, data.host);
    const Block to(t, dev, size);
    const OwnStream stream(t, dev);
    t.ok(t.api.async_memory_copy_d2d(dev, stream.get(), to.ptr(), from.ptr(), size));
    t.sync(stream.get(), dev);
    to.expect(data.pattern, "what was copied within the device");
}
HAL_DEVICE_USE(2, 14, async_memory_copy_p2p, "leak.loop", authority::D, memory_io()) {
    const hal_dev target = t.facts.device_count - 1 - dev;
    const Data data(t);
    const Block from(t, dev, data.host);
    const Block to(t, target, size);
    const OwnStream stream(t, dev);
    t.ok(t.api.async_memory_copy_p2p(target, to.ptr(), dev, from.ptr(), stream.get(), size));
    t.sync(stream.get(), dev);
    to.expect(data.pattern, "what was copied to the other device");
}

// ---- The rest ----

HAL_DEVICE_USE(2, 15, device_memory_set, "leak.loop", authority::D, memory_io()) {
    const Block block(t, dev, size);
    const HostBuffer back(size);
    t.ok(t.api.device_memory_set(dev, block.ptr(), 0x3DU, size));
    t.ok(t.api.memory_copy_d2h(dev, back.data(), block.ptr(), size));
    t.expect(back, uint8_t{0x3D}, "what was set");
}
HAL_DEVICE_USE(2, 16, device_memory_stats, "leak.loop", authority::A) {
    hal_memory_stats stats{};
    stats.header.size = sizeof stats;
    t.ok(t.api.device_memory_stats(dev, &stats));
    t.check(stats.total_bytes > 0 && stats.free_bytes <= stats.total_bytes, "free bytes of a total");
}

template <class Entry>
void read_size(Test& t, const Entry& entry, hal_dev dev) {
    uint64_t first = UINT64_MAX;
    uint64_t second = 0;
    t.ok(entry(dev, &first));
    t.ok(entry(dev, &second));
    t.eq(first, second, "the same size again");
}

HAL_DEVICE_USE(2, 17, device_min_chunk_size, "leak.loop", authority::A) {
    read_size(t, t.api.device_min_chunk_size, dev);
}
HAL_DEVICE_USE(2, 18, device_max_chunk_size, "leak.loop", authority::A) {
    read_size(t, t.api.device_max_chunk_size, dev);
}
HAL_DEVICE_USE(2, 19, device_max_alloc_size, "leak.loop", authority::A) {
    read_size(t, t.api.device_max_alloc_size, dev);
}
HAL_DEVICE_USE(2, 20, device_extra_padding_size, "leak.loop", authority::A) {
    read_size(t, t.api.device_extra_padding_size, dev);
}
HAL_DEVICE_USE(2, 21, device_init_alloc_size, "leak.loop", authority::A) {
    read_size(t, t.api.device_init_alloc_size, dev);
}
HAL_DEVICE_USE(2, 22, device_realloc_size, "leak.loop", authority::A) {
    read_size(t, t.api.device_realloc_size, dev);
}

}  // namespace
}  // namespace hal::conformance

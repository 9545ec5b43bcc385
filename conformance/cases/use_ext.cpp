// Tables 101 to 104: one use of each entry of our extensions, which keeps nothing however often it is made.
#include "use.hpp"
#include "waits.hpp"

namespace hal::conformance {
namespace {

// ---- device_ext ----

HAL_EXT_USE(device_ext, "45079/T1.1", get_device_properties) {
    hal_device_properties properties{};
    properties.header.size = sizeof properties;
    t.ok(t.api.get_device_properties(dev, &properties));
    t.check(properties.total_memory_bytes > 0, "there is memory");
}
HAL_EXT_USE(device_ext, "45079/T1.1", device_time) {
    uint64_t before = 0;
    uint64_t now = 0;
    t.ok(t.api.device_time(dev, &before));
    t.ok(t.api.device_time(dev, &now));
    t.le(before, now, "the clock never goes back");
}

// ---- memory_ext: work on a stream and rows ----

constexpr uint64_t width = 37;
constexpr uint64_t height = 29;
constexpr uint64_t size = width * height;

void allocate_and_release_on_a_stream(Test& t, hal_dev dev) {
    const OwnStream stream(t, dev);
    hal_dptr ptr = 0;
    t.ok(t.api.async_memory_allocate(dev, stream.get(), size, &ptr));
    t.check(ptr != 0, "an address");
    t.ok(t.api.async_memory_deallocate(dev, stream.get(), ptr));
    t.sync(stream.get(), dev);
}

HAL_EXT_USE(memory_ext, "46345/T5", async_memory_allocate, E::async_memory_deallocate, E::synchronize_device) {
    allocate_and_release_on_a_stream(t, dev);
}
HAL_EXT_USE(memory_ext, "46345/T5", async_memory_deallocate, E::async_memory_allocate, E::synchronize_device) {
    allocate_and_release_on_a_stream(t, dev);
}
HAL_EXT_USE(memory_ext, "46345/T5", async_memory_set, memory_io(), E::synchronize_device) {
    const Block block(t, dev, size);
    const HostBuffer back(size);
    const OwnStream stream(t, dev);
    t.ok(t.api.async_memory_set(dev, stream.get(), block.ptr(), 0x3DU, size));
    t.sync(stream.get(), dev);
    t.ok(t.api.memory_copy_d2h(dev, back.data(), block.ptr(), size));
    t.expect(back, uint8_t{0x3D}, "what was set");
}

// Rows from the host to a block of the device; `run` makes the copy and waits for it.
void copy_rows(Test& t, hal_dev dev, const std::function<void(const hal_copy_2d&)>& run) {
    const Pattern pattern = t.pattern();
    const HostBuffer host(size);
    host.write(pattern);
    const Block block(t, dev, size);
    run({{sizeof(hal_copy_2d), 0, nullptr},
         HAL_COPY_H2D,
         0,
         block.ptr(),
         width,
         reinterpret_cast<uint64_t>(host.data()),
         width,
         width,
         height});
    block.expect(pattern, "what was copied to the device");
}

HAL_EXT_USE(memory_ext, "45079/T2.9", memory_copy_2d, memory_io()) {
    copy_rows(t, dev, [&](const hal_copy_2d& copy) { t.ok(t.api.memory_copy_2d(dev, &copy)); });
}
HAL_EXT_USE(memory_ext, "45079/T2.13", async_memory_copy_2d, memory_io(), E::synchronize_device) {
    const OwnStream stream(t, dev);
    copy_rows(t, dev, [&](const hal_copy_2d& copy) {
        t.ok(t.api.async_memory_copy_2d(dev, stream.get(), &copy));
        t.sync(stream.get(), dev);
    });
}

// ---- memory_ext: kinds of memory ----

HAL_EXT_USE(memory_ext, "45079/T2.1", aligned_memory_allocate, E::device_memory_deallocate) {
    constexpr uint64_t alignment = 4096;
    hal_dptr ptr = 0;
    t.ok(t.api.aligned_memory_allocate(dev, size, alignment, &ptr));
    t.check(ptr != 0 && ptr % alignment == 0, "an address of the alignment");
    t.ok(t.api.device_memory_deallocate(dev, ptr, size));
}
HAL_EXT_USE(memory_ext, "45079/T2.1", get_memory_attributes, E::device_memory_allocate, E::device_memory_deallocate) {
    const Block block(t, dev, size);
    hal_memory_attributes attributes{};
    attributes.header.size = sizeof attributes;
    t.ok(t.api.get_memory_attributes(block.ptr(), &attributes));
    t.eq(dev, attributes.device, "device of the memory");
}

void register_and_unregister(Test& t, hal_dev dev) {
    const HostBuffer buffer(8192);
    t.ok(t.api.host_memory_register(dev, buffer.data(), buffer.size()));
    t.ok(t.api.host_memory_unregister(dev, buffer.data()));
}

HAL_EXT_USE(memory_ext, "45079/T2.3", host_memory_register, E::host_memory_unregister) {
    register_and_unregister(t, dev);
}
HAL_EXT_USE(memory_ext, "45079/T2.4", host_memory_unregister, E::host_memory_register) {
    register_and_unregister(t, dev);
}

// ---- memory_ext: peers and other processes ----

hal_dev peer_of(Test& t, hal_dev dev) {
    return t.facts.device_count - 1 - dev;
}

bool reaches_peer(Test& t, hal_dev dev) {
    int32_t access = INT32_MIN;
    t.ok(t.api.peer_access_query(dev, peer_of(t, dev), &access));
    t.check(access == 0 || access == 1, "0 or 1");
    return access == 1;
}

void enable_and_disable(Test& t, hal_dev dev) {
    if (reaches_peer(t, dev)) {
        t.ok(t.api.peer_access_enable(dev, peer_of(t, dev)));
        t.ok(t.api.peer_access_disable(dev, peer_of(t, dev)));
    } else {
        t.fails(HAL_ERROR_UNSUPPORTED, [&] { return t.api.peer_access_enable(dev, peer_of(t, dev)); });
    }
}

HAL_EXT_USE(memory_ext, "45079/T2.10", peer_access_query, devices(2)) {
    (void)reaches_peer(t, dev);
}
HAL_EXT_USE(memory_ext, "45079/T2.10", peer_access_enable, E::peer_access_disable, E::peer_access_query, devices(2)) {
    enable_and_disable(t, dev);
}
HAL_EXT_USE(memory_ext, "45079/T2.10", peer_access_disable, E::peer_access_enable, E::peer_access_query, devices(2)) {
    enable_and_disable(t, dev);
}

// A back end may refuse what its own process has exported; then the refusal must keep nothing.
void export_and_import(Test& t, hal_dev dev) {
    const Block block(t, dev, size);
    hal_ipc_handle handle{};
    hal_dptr ptr = 0;
    t.ok(t.api.memory_ipc_export(dev, block.ptr(), &handle));
    if (t.api.memory_ipc_import(dev, &handle, &ptr) == HAL_OK) {
        t.ok(t.api.memory_ipc_close(dev, ptr));
    }
}

HAL_EXT_USE(memory_ext, "45079/T2.1", memory_ipc_export, E::device_memory_allocate, E::device_memory_deallocate) {
    const Block block(t, dev, size);
    hal_ipc_handle handle{};
    t.ok(t.api.memory_ipc_export(dev, block.ptr(), &handle));
}
HAL_EXT_USE(memory_ext, "45079/T2.1", memory_ipc_import, E::memory_ipc_export, E::memory_ipc_close,
            E::device_memory_allocate, E::device_memory_deallocate) {
    export_and_import(t, dev);
}
HAL_EXT_USE(memory_ext, "45079/T2.1", memory_ipc_close, E::memory_ipc_export, E::memory_ipc_import,
            E::device_memory_allocate, E::device_memory_deallocate) {
    export_and_import(t, dev);
}

// ---- memory_ext: upkeep ----

HAL_EXT_USE(memory_ext, "45079/T2.16", memory_trim) {
    t.ok(t.api.memory_trim(dev, 0));
}
HAL_EXT_USE(memory_ext, "45079/T2.16", memory_reset_peak) {
    t.ok(t.api.memory_reset_peak(dev));
}

// ---- stream_ext ----

HAL_EXT_USE(stream_ext, "46345/T5", stream_priority_range) {
    int32_t least = INT32_MIN;
    int32_t greatest = INT32_MAX;
    t.ok(t.api.stream_priority_range(dev, &least, &greatest));
    t.le(greatest, least, "the greatest and the least priority");
}
HAL_EXT_USE(stream_ext, "45079/T3.1", reset_stream) {
    const OwnStream stream(t, dev);
    t.ok(t.api.reset_stream(dev, stream.get()));
}
HAL_EXT_USE(stream_ext, "45079/T3.1", stream_native_handle) {
    const OwnStream stream(t, dev);
    uint64_t first = UINT64_MAX;
    uint64_t second = 0;
    t.ok(t.api.stream_native_handle(dev, stream.get(), &first));
    t.ok(t.api.stream_native_handle(dev, stream.get(), &second));
    t.eq(first, second, "the same handle again");
}

// ---- event_ext ----

HAL_EXT_USE(event_ext, "45079/T4.1", event_elapsed, event_io()) {
    const OwnEvent start(t, dev, HAL_EVENT_TIMING);
    const OwnEvent end(t, dev, HAL_EVENT_TIMING);
    int64_t elapsed = INT64_MIN;
    for (const OwnEvent* event : {&start, &end}) {
        t.ok(t.api.record_event(dev, nullptr, event->get()));
        t.ok(t.api.synchronize_event(dev, event->get(), HAL_NO_TIMEOUT));
    }
    t.ok(t.api.event_elapsed(start.get(), end.get(), &elapsed));
    t.le(int64_t{0}, elapsed, "nanoseconds to the later event");
}
HAL_EXT_USE(event_ext, "45079/T4.1", event_ipc_export, E::create_event, E::destroy_event) {
    const OwnEvent event(t, dev, HAL_EVENT_IPC);
    hal_ipc_handle handle{};
    t.ok(t.api.event_ipc_export(dev, event.get(), &handle));
}
// As for memory: the exporting process itself may be refused.
HAL_EXT_USE(event_ext, "45079/T4.1", event_ipc_import, E::event_ipc_export, E::create_event, E::destroy_event) {
    const OwnEvent event(t, dev, HAL_EVENT_IPC);
    hal_ipc_handle handle{};
    hal_event imported = nullptr;
    t.ok(t.api.event_ipc_export(dev, event.get(), &handle));
    if (t.api.event_ipc_import(dev, &handle, &imported) == HAL_OK) {
        t.ok(t.api.destroy_event(dev, imported));
    }
}

}  // namespace
}  // namespace hal::conformance

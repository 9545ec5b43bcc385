// Table 2: copies from and to every kind of host memory.
#include "memory_checks.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t size = 20'011;

// Host memory of the kind that the parameter names, released at the end of the scope.
class Side {
  public:
    explicit Side(Test& t, std::string_view kind) : test_(t), kind_(kind) {
        hal_dptr ptr = 0;
        if (kind == "pinned" && t.ok(t.api.host_memory_allocate(0, size, &memory_))) {
            return;
        }
        if (kind == "unified" && t.ok(t.api.unified_memory_allocate(0, size, &ptr))) {
            memory_ = reinterpret_cast<void*>(ptr);
            return;
        }
        kind_ = "ordinary";  // also where the back end refuses, which has been noted: the case goes on
        memory_ = t.host(size).data();
    }
    ~Side() {
        if (memory_ != nullptr && kind_ == "pinned") {
            test_.ok(test_.api.host_memory_deallocate(0, memory_, size));
        } else if (memory_ != nullptr && kind_ == "unified") {
            test_.ok(test_.api.unified_memory_deallocate(0, reinterpret_cast<hal_dptr>(memory_), size));
        }
    }
    Side(const Side&) = delete;
    Side& operator=(const Side&) = delete;
    [[nodiscard]] void* memory() const { return memory_; }

  private:
    Test& test_;
    std::string_view kind_;
    void* memory_ = nullptr;
};

void copy_from(Test& t, const void* source, const Pattern& pattern) {
    const DeviceBuffer& to = t.device(size);
    t.ok(t.api.memory_copy_h2d(0, to.ptr, source, size));
    t.expect(to, pattern, "data from this kind of memory");
}

void check_from(Test& t, std::string_view kind) {
    const Side side(t, kind);
    if (side.memory() != nullptr) {
        const Pattern pattern = t.pattern();
        pattern.write(side.memory(), size);
        copy_from(t, side.memory(), pattern);
    }
}

void check_to(Test& t, std::string_view kind) {
    const Side side(t, kind);
    if (side.memory() != nullptr) {
        const Pattern pattern = t.pattern();
        const DeviceBuffer& from = t.device(pattern, size);
        std::memset(side.memory(), poison, size);
        t.ok(t.api.memory_copy_d2h(0, side.memory(), from.ptr, size));
        t.check(!compare(side.memory(), pattern, size), "data in this kind of memory");
    }
}

#define KIND(row, entry, id, call, ...)                                          \
    HAL_CASE("45079.T2." #entry "." id, clauses{"45079/T2." #row}, authority::D, \
             needs{E::entry, memory_io(), __VA_ARGS__})                          \
    (Test & t) {                                                                 \
        call;                                                                    \
    }

KIND(7, memory_copy_h2d, "norm.from_pageable", check_from(t, "pageable"))
KIND(7, memory_copy_h2d, "norm.from_pinned", check_from(t, "pinned"), E::host_memory_allocate,
     E::host_memory_deallocate)
KIND(7, memory_copy_h2d, "norm.from_unified", check_from(t, "unified"), E::unified_memory_allocate,
     E::unified_memory_deallocate)
KIND(7, memory_copy_h2d, "norm.from_stack", {
    uint8_t stack[size];
    const Pattern pattern = t.pattern();
    pattern.write(stack, size);
    copy_from(t, stack, pattern);
})
KIND(8, memory_copy_d2h, "norm.to_pageable", check_to(t, "pageable"))
KIND(8, memory_copy_d2h, "norm.to_pinned", check_to(t, "pinned"), E::host_memory_allocate, E::host_memory_deallocate)
KIND(8, memory_copy_d2h, "norm.to_unified", check_to(t, "unified"), E::unified_memory_allocate,
     E::unified_memory_deallocate)

HAL_CASE("45079.T2.memory_copy_d2h.norm.subrange", clauses{"45079/T2.8"}, authority::D,
         needs{E::memory_copy_d2h, memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& from = t.device(pattern, size);
    for (int i = 0; i < 200; ++i) {
        const uint64_t first = t.random() % size;
        const uint64_t length = 1 + t.random() % (size - first);
        const HostBuffer to(length);
        t.ok(t.api.memory_copy_d2h(0, to.data(), from.ptr + first, length));
        t.check(!compare(to.data(), pattern, length, first) && to.guards_intact(),
                "the bytes of the range, and no more");
    }
}

// ---- Page-locked and unified memory of their own ----

HAL_CASE("45079.T2.host_memory_allocate.norm.shared_by_devices", clauses{"45079/T2.3"}, authority::Q,
         needs{E::host_memory_allocate, E::host_memory_deallocate, memory_io(), devices(2)})
(Test& t) {
    const Side side(t, "pinned");
    const Pattern pattern = t.pattern();
    pattern.write(side.memory(), size);
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const DeviceBuffer& to = t.device(size, dev);
        t.ok(t.api.memory_copy_h2d(dev, to.ptr, side.memory(), size));
        t.expect(to, pattern, "page-locked memory of device 0, read by another device");
    }
}

HAL_CASE("45079.T2.unified_memory_allocate.norm.two_devices", clauses{"45079/T2.5"}, authority::Q,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate, E::memory_copy_p2p, memory_io(), devices(2)})
(Test& t) {
    const Side side(t, "unified");
    const Pattern pattern = t.pattern();
    pattern.write(side.memory(), size);
    const DeviceBuffer& to = t.device(size, 1);
    t.ok(t.api.memory_copy_p2p(1, to.ptr, 0, reinterpret_cast<hal_dptr>(side.memory()), size));
    t.expect(to, pattern, "unified memory of device 0, read by device 1");
}

HAL_CASE("45079.T2.unified_memory_allocate.norm.host_writes_device_reads", clauses{"45079/T2.5"}, authority::S,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate, memory_io()})
(Test& t) {
    const Side side(t, "unified");
    const Pattern pattern = t.pattern();
    pattern.write(side.memory(), size);
    const HostBuffer back(size);
    t.ok(t.api.memory_copy_d2h(0, back.data(), reinterpret_cast<hal_dptr>(side.memory()), size));
    t.expect(back, pattern, "what the device reads at the address that the host wrote");
}

HAL_CASE("45079.T2.unified_memory_allocate.norm.device_writes_host_reads", clauses{"45079/T2.5"}, authority::S,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate, memory_io()})
(Test& t) {
    const Side side(t, "unified");
    std::memset(side.memory(), poison, size);
    const Pattern pattern = t.pattern();
    const HostBuffer& source = t.host(pattern, size);
    t.ok(t.api.memory_copy_h2d(0, reinterpret_cast<hal_dptr>(side.memory()), source.data(), size));
    t.check(!compare(side.memory(), pattern, size), "what the host reads at the address that the device wrote");
}

// One address for both sides: an offset that the host adds means the same byte for the device.
HAL_CASE("45079.T2.unified_memory_allocate.norm.same_address", clauses{"45079/T2.5"}, authority::S,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate, memory_io()})
(Test& t) {
    const Side side(t, "unified");
    auto* bytes = static_cast<uint8_t*>(side.memory());
    for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{63}, uint64_t{4096}, size - 1}) {
        const auto in = t.context("offset", offset);
        const auto sent = static_cast<uint8_t>(0x11 + offset % 97);
        uint8_t got = 0;
        bytes[offset] = sent;
        t.ok(t.api.memory_copy_d2h(0, &got, reinterpret_cast<hal_dptr>(bytes + offset), 1));
        t.eq(static_cast<int>(sent), static_cast<int>(got), "the byte at the host's own pointer");
    }
}

HAL_CASE("45079.T2.unified_memory_allocate.order.host_access_after_sync", clauses{"45079/T2.5"}, authority::D,
         needs{E::unified_memory_allocate, E::unified_memory_deallocate, E::async_memory_copy_h2d, memory_io()})
(Test& t) {
    const Side side(t, "unified");
    const hal_stream s = t.stream();
    for (int i = 0; i < 50; ++i) {
        const Pattern pattern = t.pattern();
        const HostBuffer& source = t.keep<HostBuffer>(size);
        source.write(pattern);
        t.ok(t.api.async_memory_copy_h2d(0, s, reinterpret_cast<hal_dptr>(side.memory()), source.data(), size));
        t.sync(s);
        t.check(!compare(side.memory(), pattern, size), "what the host reads once the stream is synchronised");
    }
}

}  // namespace
}  // namespace hal::conformance

#include "memory_checks.hpp"

namespace hal::conformance {

ReadBack::ReadBack(Test& t, hal_dev dev, hal_dptr ptr, uint64_t size, Where where) : copied(size) {
    t.ok(t.api.memory_copy_d2h(dev, copied.data(), ptr, size), "memory_copy_d2h", where);
    if ((t.facts.device_flags & HAL_DEVICE_HOST_ACCESSIBLE) != 0) {
        direct = reinterpret_cast<const uint8_t*>(ptr);
    }
}

bool ReadBack::expect(Test& t, const uint8_t* expected, std::string_view what, Where where) const {
    const bool same = std::memcmp(copied.data(), expected, copied.size()) == 0;
    const bool direct_same = direct == nullptr || std::memcmp(direct, expected, copied.size()) == 0;
    return t.check(same && direct_same && copied.guards_intact(), what, where);
}

void expect_window(Test& t, const DeviceBuffer& buffer, uint64_t offset, uint64_t size, const Pattern& pattern,
                   uint64_t first, Where where) {
    const ReadBack back(t, buffer.dev, buffer.ptr, buffer.size, where);
    for (const uint8_t* bytes : {static_cast<const uint8_t*>(back.copied.data()), back.direct}) {
        if (bytes != nullptr) {
            t.check(!compare(bytes, poison, offset), "nothing is written before the range", where);
            t.check(!compare(bytes + offset, pattern, size, first), "every byte of the range is right", where);
            t.check(!compare(bytes + offset + size, poison, buffer.size - offset - size),
                    "nothing is written behind the range", where);
        }
    }
}

hal_memory_stats stats_of(Test& t, hal_dev dev, Where where) {
    hal_memory_stats stats{};
    stats.header.size = sizeof stats;
    t.ok(t.api.device_memory_stats(dev, &stats), "device_memory_stats", where);
    return stats;
}

HostKind host_kind(Test& t) {
    return {[&t](uint64_t size, void** out) { return t.api.host_memory_allocate(0, size, out); },
            [&t](void* ptr, uint64_t size) { return t.api.host_memory_deallocate(0, ptr, size); }};
}

HostKind unified_kind(Test& t) {
    return {[&t](uint64_t size, void** out) {
                return t.api.unified_memory_allocate(0, size,
                                                     out == nullptr ? nullptr : reinterpret_cast<hal_dptr*>(out));
            },
            [&t](void* ptr, uint64_t size) {
                return t.api.unified_memory_deallocate(0, reinterpret_cast<hal_dptr>(ptr), size);
            }};
}

const NeedGroup& blocks() {
    static const NeedGroup group{E::device_memory_allocate, E::device_memory_deallocate};
    return group;
}

}  // namespace hal::conformance

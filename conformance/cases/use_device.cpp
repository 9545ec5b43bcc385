// Table 1: one use of each entry, for the cases of use.hpp.
#include "use.hpp"

namespace hal::conformance {
namespace {

// A text, a second time into a buffer that fits exactly, ends with its terminator.
template <class Entry>
void read_text(Test& t, const Entry& entry, hal_dev dev) {
    char text[512];
    uint64_t size = 0;
    t.ok(entry(dev, text, sizeof text, &size));
    t.check(size > 1 && size <= sizeof text && text[size - 1] == '\0', "the text ends where the entry says");
}

template <class Entry>
void read_version(Test& t, const Entry& entry, hal_dev dev) {
    hal_version version{};
    version.header.size = sizeof version;
    t.ok(entry(dev, &version));
    t.check(version.major != 0 || version.minor != 0 || version.patch != 0, "a version");
}

HAL_DEVICE_USE(1, 1, get_device_name, "leak.loop", authority::A) {
    read_text(t, t.api.get_device_name, dev);
}
HAL_DEVICE_USE(1, 2, get_device_type, "leak.loop", authority::A) {
    read_text(t, t.api.get_device_type, dev);
}
HAL_DEVICE_USE(1, 3, get_driver_version, "leak.loop", authority::A) {
    read_version(t, t.api.get_driver_version, dev);
}
HAL_DEVICE_USE(1, 4, get_runtime_version, "leak.loop", authority::A) {
    read_version(t, t.api.get_runtime_version, dev);
}
HAL_USE(1, 5, set_device, "leak.loop", authority::A, E::get_device) {
    hal_dev got = INT32_MIN;
    t.ok(t.api.set_device(dev));
    t.ok(t.api.get_device(&got));
    t.eq(dev, got, "current device");
}
HAL_USE(1, 6, get_device, "leak.loop", authority::A) {
    hal_dev got = INT32_MIN;
    t.ok(t.api.get_device(&got));
    t.check(got >= 0 && got < t.facts.device_count, "an ordinal of a device");
}
HAL_DEVICE_USE(1, 7, synchronize_device, "leak.loop", authority::A) {
    t.ok(t.api.synchronize_device(dev, HAL_NO_TIMEOUT));
}
HAL_USE(1, 8, get_device_count, "leak.loop", authority::A) {
    int32_t count = INT32_MIN;
    t.ok(t.api.get_device_count(&count));
    t.eq(t.facts.device_count, count, "devices");
}
HAL_USE(1, 9, get_device_list, "leak.loop", authority::A) {
    std::vector<hal_dev> list(static_cast<size_t>(t.facts.device_count), INT32_MIN);
    uint32_t count = 0;
    t.ok(t.api.get_device_list(list.data(), static_cast<uint32_t>(list.size()), &count));
    t.eq(list.size(), size_t{count}, "ordinals");
    for (size_t i = 0; i < list.size(); ++i) {
        t.check(list[i] >= 0 && list[i] < t.facts.device_count, "an ordinal of a device");
    }
}
HAL_DEVICE_USE(1, 10, get_compute_capability, "leak.loop", authority::A) {
    hal_compute_capability capability{};
    capability.header.size = sizeof capability;
    t.ok(t.api.get_compute_capability(dev, &capability));
    t.check(capability.major != 0 || capability.minor != 0 || capability.arch[0] != 0, "a capability");
}
// Counted, so that neither ends what the test has begun.
HAL_USE(1, 11, initialize, "leak.loop", authority::A, E::finalize) {
    t.ok(t.api.initialize());
    t.ok(t.api.finalize());
}
HAL_USE(1, 12, finalize, "leak.loop", authority::A, E::initialize) {
    t.ok(t.api.initialize());
    t.ok(t.api.finalize());
}
HAL_DEVICE_USE(1, 13, init_device, "leak.loop", authority::A, E::deinit_device) {
    t.ok(t.api.init_device(dev));
    t.ok(t.api.deinit_device(dev));
}
HAL_DEVICE_USE(1, 14, deinit_device, "leak.loop", authority::A, E::init_device) {
    t.ok(t.api.init_device(dev));
    t.ok(t.api.deinit_device(dev));
}

}  // namespace
}  // namespace hal::conformance

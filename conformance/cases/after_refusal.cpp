// A refusal is the caller's fault and changes nothing: the entry works as before. Kills error paths that keep a lock.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.X.error.life.usable_after_refusal", clauses{"hal/4"}, authority::A,
         needs{E::set_device, E::create_event, E::destroy_event, E::record_event, E::synchronize_event})
(Test& t) {
    const hal_event event = t.event();
    for (int i = 0; i < 3; ++i) {
        t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(-1); });
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.record_event(0, nullptr, nullptr); });
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.destroy_event(0, nullptr); });
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.synchronize_event(0, nullptr, 0); });
        t.ok(t.api.set_device(0));
        t.ok(t.api.record_event(0, nullptr, event));
        t.ok(t.api.synchronize_event(0, event, HAL_NO_TIMEOUT));
        hal_event other = nullptr;
        t.ok(t.api.create_event(0, nullptr, &other));
        t.ok(t.api.destroy_event(0, other));
    }
}

HAL_CASE("45079.X.error.life.memory_usable_after_refusal", clauses{"hal/4"}, authority::A, needs{memory_io()})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(4099);
    hal_dptr none = 0;
    for (int i = 0; i < 3; ++i) {
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.device_memory_allocate(0, 0, &none); });
        t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.device_memory_deallocate(-1, buffer.base, 0); });
        t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.memory_copy_h2d(-1, buffer.ptr, &none, sizeof none); });
        t.write(buffer, pattern);
        t.expect(buffer, pattern, "data after refusals");
        t.ok(t.api.device_memory_allocate(0, 64, &none));
        t.ok(t.api.device_memory_deallocate(0, none, 64));
    }
}

}  // namespace
}  // namespace hal::conformance

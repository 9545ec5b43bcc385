// Table 1: init_device, deinit_device.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T1.init_device.norm.each", clauses{"45079/T1.13"}, authority::S,
         needs{E::init_device, E::deinit_device})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.ok(t.api.init_device(dev));
        if (t.api.synchronize_device) {
            t.ok(t.api.synchronize_device(dev, HAL_NO_TIMEOUT), "the device is usable");
        }
        t.ok(t.api.deinit_device(dev));
    }
}

HAL_CASE("45079.T1.init_device.conc.parallel_all", clauses{"45079/T1.13"}, authority::A,
         needs{E::init_device, E::deinit_device, free_threads})
(Test& t) {
    t.threads(8, [&](int thread) {
        const hal_dev dev = thread % t.facts.device_count;
        for (int i = 0; i < 50; ++i) {
            t.ok(t.api.init_device(dev));
            t.ok(t.api.deinit_device(dev));
        }
    });
}

HAL_CASE("45079.T1.deinit_device.life.usable_after_reinit", clauses{"45079/T1.14"}, authority::D,
         needs{E::deinit_device, E::init_device, memory_io()})
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    for (int i = 0; i < 5; ++i) {
        t.ok(t.api.init_device(dev));
        const Pattern pattern = t.pattern();
        DeviceBuffer& buffer = t.device(pattern, 3001, dev);
        t.expect(buffer, pattern, "data");
        t.release(buffer);
        t.ok(t.api.deinit_device(dev));
    }
}

HAL_CASE("45079.T1.deinit_device.life.others_unhurt", clauses{"45079/T1.14"}, authority::D,
         needs{E::deinit_device, E::init_device, memory_io(), devices(2)})
(Test& t) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& kept = t.device(pattern, 10'001, 0);
    t.ok(t.api.init_device(1));
    t.ok(t.api.deinit_device(1));
    t.expect(kept, pattern, "data of the other device");
}

HAL_CASE("45079.T1.deinit_device.edge.without_init", clauses{"45079/T1.14"}, authority::A,
         needs{E::deinit_device, E::init_device})
(Test& t) {
    const auto other = t.another();
    t.ok(other->initialize());
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().deinit_device(0); });
    t.ok(other->finalize());
}

HAL_CASE("45079.T1.deinit_device.edge.twice", clauses{"45079/T1.14"}, authority::A,
         needs{E::deinit_device, E::init_device})
(Test& t) {
    const auto other = t.another();
    t.ok(other->initialize());
    t.ok(other->api().init_device(0));
    t.ok(other->api().deinit_device(0));
    t.fails(HAL_ERROR_NOT_INITIALIZED, [&] { return other->api().deinit_device(0); });
    t.ok(other->api().init_device(0), "after the refusal");
    t.ok(other->api().deinit_device(0));
    t.ok(other->finalize());
}

HAL_CASE("45079.T1.init_device.edge.twice", clauses{"45079/T1.13"}, authority::A,
         needs{E::init_device, E::deinit_device})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.ok(t.api.init_device(dev));
        t.ok(t.api.init_device(dev), "counted");
        t.ok(t.api.deinit_device(dev));
        t.ok(t.api.deinit_device(dev));
    }
}

uint64_t used_bytes(Test& t, const Api& api, hal_dev dev) {
    hal_memory_stats stats{};
    stats.header.size = sizeof stats;
    t.ok(api.device_memory_stats(dev, &stats));
    return stats.used_bytes;
}

HAL_CASE("45079.T1.init_device.norm.one_does_not_init_others", clauses{"45079/T1.13"}, authority::Q,
         needs{E::init_device, E::deinit_device, E::device_memory_stats, devices(2)}, exclusive)
(Test& t) {
    const auto other = t.another();
    t.ok(other->initialize());
    const uint64_t before = used_bytes(t, t.api, 1);
    t.ok(other->api().init_device(0));
    t.eq(before, used_bytes(t, t.api, 1), "bytes in use on a device that was not initialised");
    t.ok(other->api().deinit_device(0));
    t.ok(other->finalize());
}

HAL_CASE("45079.T1.init_device.life.cycle20", clauses{"45079/T1.13", "45079/T1.14"}, authority::A,
         needs{E::init_device, E::deinit_device}, exclusive)
(Test& t) {
    const hal_dev dev = t.facts.device_count - 1;
    t.no_leak(4, [&] {
        t.ok(t.api.init_device(dev));
        t.ok(t.api.deinit_device(dev));
    });
}

HAL_CASE("45079.T1.deinit_device.norm.memory_returned", clauses{"45079/T1.14"}, authority::D,
         needs{E::deinit_device, E::init_device, E::device_memory_stats, memory_io()}, exclusive)
(Test& t) {
    const auto cycle = [&] {
        t.ok(t.api.init_device(0));
        DeviceBuffer& buffer = t.device(1U << 20U);
        t.release(buffer);
        t.ok(t.api.deinit_device(0));
    };
    cycle();
    const uint64_t before = used_bytes(t, t.api, 0);
    cycle();
    t.le(used_bytes(t, t.api, 0), before, "bytes in use after the device was de-initialised again");
}

// BUSY, which says what lives, or success; never a crash. BUSY leaves everything alone.
HAL_CASE("45079.T1.deinit_device.err.live_children", clauses{"45079/T1.14"}, authority::A,
         needs{E::deinit_device, E::init_device, E::create_event, E::record_event, E::synchronize_event,
               E::destroy_event})
(Test& t) {
    const auto other = t.another();
    const Api& api = other->api();
    hal_event event = nullptr;
    t.ok(other->initialize());
    t.ok(api.init_device(0));
    t.ok(api.create_event(0, nullptr, &event));
    const uint64_t before = Host::last_error().serial;
    const hal_status status = api.deinit_device(0);
    t.check(status == HAL_OK || status == HAL_ERROR_BUSY, "succeeds or is BUSY");
    if (status == HAL_ERROR_BUSY) {
        t.check(Host::last_error().serial != before && !Host::last_error().text.empty(), "BUSY with a text");
        t.ok(api.record_event(0, nullptr, event), "the object is alive");
        t.ok(api.synchronize_event(0, event, HAL_NO_TIMEOUT));
        t.ok(api.destroy_event(0, event));
        t.ok(api.deinit_device(0), "once nothing lives");
    }
    other->destroy();  // ends whatever lives
}

}  // namespace
}  // namespace hal::conformance

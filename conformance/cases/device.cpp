// Table 1: which devices there are, and which is current.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T1.get_device_count.norm.nonzero", clauses{"45079/T1.8"}, authority::S, needs{E::get_device_count})
(Test& t) {
    int32_t count = INT32_MIN;
    t.ok(t.api.get_device_count(&count));
    t.le(1, count, "devices");
}

HAL_CASE("45079.T1.get_device_count.norm.stable_in_process", clauses{"45079/T1.8"}, authority::D,
         needs{E::get_device_count})
(Test& t) {
    for (int i = 0; i < 100; ++i) {
        int32_t count = INT32_MIN;
        t.ok(t.api.get_device_count(&count));
        t.eq(t.facts.device_count, count, "devices");
    }
}

HAL_CASE("45079.T1.get_device_count.norm.every_index_usable", clauses{"45079/T1.8", "45079/T1.5"}, authority::D,
         needs{E::get_device_count, E::set_device, E::create_event, E::record_event, E::synchronize_event})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const auto in = t.context("device", static_cast<uint64_t>(dev));
        t.ok(t.api.set_device(dev));
        const hal_event event = t.event(dev);
        t.ok(t.api.record_event(dev, nullptr, event));
        t.ok(t.api.synchronize_event(dev, event, HAL_NO_TIMEOUT));
    }
}

HAL_CASE("45079.T1.get_device_count.edge.count_is_invalid_index", clauses{"45079/T1.8", "45079/T1.5"}, authority::A,
         needs{E::get_device_count, E::set_device})
(Test& t) {
    int32_t count = 0;
    t.ok(t.api.get_device_count(&count));
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(count); });
    t.ok(t.api.set_device(count - 1), "the last index");
}

// Counting may need the driver or not; a plug-in decides once.
HAL_CASE("45079.T1.get_device_count.norm.before_initialize", clauses{"45079/T1.8"}, authority::A,
         needs{E::get_device_count, E::initialize, E::finalize})
(Test& t) {
    const auto other = t.another();
    const auto ask = [&] {
        int32_t count = t.facts.device_count;
        const hal_status status = other->api().get_device_count(&count);
        t.check(status == HAL_OK || status == HAL_ERROR_NOT_INITIALIZED, "counts, or says NOT_INITIALIZED");
        t.eq(t.facts.device_count, count, "the number, or the output untouched");
        return status;
    };
    const hal_status first = ask();
    t.eq(first, ask(), "the same answer again");
    t.ok(other->api().initialize());
    t.eq(HAL_OK, ask(), "status after initialize");
    t.ok(other->api().finalize());
    t.eq(first, ask(), "status after finalize, as before initialize");
}

// ---- get_device_list ----

HAL_CASE("45079.T1.get_device_list.norm.length_equals_count", clauses{"45079/T1.9"}, authority::D,
         needs{E::get_device_list})
(Test& t) {
    const auto expected = static_cast<uint32_t>(t.facts.device_count);
    std::vector<hal_dev> list(expected + 4, INT32_MIN);
    uint32_t count = UINT32_MAX;
    t.ok(t.api.get_device_list(list.data(), expected + 4, &count));
    t.eq(expected, count, "ordinals");
    for (uint32_t i = 0; i < expected; ++i) {
        t.eq(static_cast<hal_dev>(i), list[i], "ordinal");
    }
    for (uint32_t i = expected; i < list.size(); ++i) {
        t.eq(INT32_MIN, list[i], "place behind the last ordinal");
    }
}

HAL_CASE("45079.T1.get_device_list.edge.cap_short", clauses{"45079/T1.9"}, authority::A, needs{E::get_device_list})
(Test& t) {
    const auto expected = static_cast<uint32_t>(t.facts.device_count);
    for (uint32_t capacity = 0; capacity < expected; ++capacity) {
        std::vector<hal_dev> list(expected, INT32_MIN);
        uint32_t count = UINT32_MAX;
        t.eq(HAL_INCOMPLETE, t.api.get_device_list(list.data(), capacity, &count), "status of a short array");
        t.eq(expected, count, "ordinals there are");
        t.eq(INT32_MIN, list[capacity], "place behind the capacity");
    }
    uint32_t count = UINT32_MAX;
    t.eq(HAL_INCOMPLETE, t.api.get_device_list(nullptr, 0, &count), "status of no array");
    t.eq(expected, count, "ordinals there are");
}

HAL_CASE("45079.T1.get_device_list.edge.cap_zero", clauses{"45079/T1.9"}, authority::A, needs{E::get_device_list})
(Test& t) {
    for (int i = 0; i < 2; ++i) {
        hal_dev untouched = INT32_MIN;
        uint32_t count = UINT32_MAX;
        t.eq(HAL_INCOMPLETE, t.api.get_device_list(i == 0 ? nullptr : &untouched, 0, &count), "status of no room");
        t.eq(static_cast<uint32_t>(t.facts.device_count), count, "ordinals there are");
        t.eq(INT32_MIN, untouched, "an array of which no place was offered");
    }
}

std::vector<hal_dev> device_list(Test& t) {
    std::vector<hal_dev> list(static_cast<size_t>(t.facts.device_count), INT32_MIN);
    uint32_t count = 0;
    t.ok(t.api.get_device_list(list.data(), static_cast<uint32_t>(list.size()), &count));
    return list;
}

HAL_CASE("45079.T1.get_device_list.norm.unique", clauses{"45079/T1.9"}, authority::D, needs{E::get_device_list})
(Test& t) {
    const auto list = device_list(t);
    t.eq(list.size(), std::set<hal_dev>(list.begin(), list.end()).size(), "different ordinals");
}

HAL_CASE("45079.T1.get_device_list.norm.all_settable", clauses{"45079/T1.9", "45079/T1.5"}, authority::D,
         needs{E::get_device_list, E::set_device, E::get_device})
(Test& t) {
    for (const hal_dev dev : device_list(t)) {
        hal_dev got = INT32_MIN;
        t.ok(t.api.set_device(dev));
        t.ok(t.api.get_device(&got));
        t.eq(dev, got, "current device");
    }
}

HAL_CASE("45079.T1.get_device_list.err.null_out", clauses{"45079/T1.9"}, authority::A, needs{E::get_device_list})
(Test& t) {
    hal_dev list[1] = {0};
    uint32_t count = 0;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_list(list, 1, nullptr); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.get_device_list(nullptr, 1, &count); });
}

}  // namespace
}  // namespace hal::conformance

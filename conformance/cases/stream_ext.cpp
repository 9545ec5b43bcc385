// stream_ext: priorities, native handles, and a stream that has failed, wherever that shows.
#include "harness/test.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("hal.stream_ext.stream_priority_range.norm.around_zero", clauses{"46345/T5"}, authority::A,
         needs{E::stream_priority_range})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        int32_t least = INT32_MIN;
        int32_t greatest = INT32_MAX;
        t.ok(t.api.stream_priority_range(dev, &least, &greatest));
        t.le(0, least, "0 and the least priority");
        t.le(greatest, 0, "the greatest priority and 0");
    }
    int32_t out = 0;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.stream_priority_range(0, nullptr, &out); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.stream_priority_range(0, &out, nullptr); });
}

HAL_CASE("hal.stream_ext.stream_native_handle.norm.stable", clauses{"45079/T3.1"}, authority::A,
         needs{E::stream_native_handle, E::create_stream})
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        uint64_t first = UINT64_MAX;
        uint64_t second = 0;
        t.ok(t.api.stream_native_handle(0, s, &first));
        t.ok(t.api.stream_native_handle(0, s, &second));
        t.eq(first, second, "the same handle again");
    }
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.stream_native_handle(0, nullptr, nullptr); });
}

HAL_CASE("hal.stream_ext.reset_stream.norm.healthy", clauses{"45079/T3.1"}, authority::A,
         needs{E::reset_stream, E::synchronize_stream, any_work})
(Test& t) {
    for (const hal_stream s : {t.stream(), hal_stream{nullptr}}) {
        Work& w = t.work(s);
        w.enqueue();
        t.ok(t.api.reset_stream(0, s));
        t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
        w.expect_done();
    }
}

// ---- A failed operation. The plug-in offers one as the operator "hal.test.fault": no tensors, enqueues work that
// fails. ----

constexpr std::string_view fault_op = "hal.test.fault";

bool enqueue_fault(Test& t, hal_stream stream) {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    t.ok(t.api.register_kernel(&kernels, &count));
    for (uint64_t i = 0; i < count; ++i) {
        if (kernels[i]->op == fault_op) {
            hal_kernel_call call{};
            call.size = sizeof call;
            call.instance = t.backend().instance();
            call.kernel = kernels[i];
            call.stream = stream;
            return t.ok(kernels[i]->run(&call), "the enqueue itself succeeds");
        }
    }
    return false;
}

const NeedGroup& faulty() {
    static const NeedGroup group{E::register_kernel, E::create_stream,       E::synchronize_stream,
                                 E::query_stream,    E::stream_add_callback, E::destroy_stream};
    return group;
}

const NeedGroup& faulty_events() {
    static const NeedGroup group{E::create_event, E::record_event, E::synchronize_event, E::query_event,
                                 E::synchronize_device};
    return group;
}

// A stream that has failed behind `before` and in front of `after`; the wait for it says so.
struct Failed {
    hal_stream stream = nullptr;
    hal_event before = nullptr;
    hal_event after = nullptr;
};

Failed make_failed(Test& t) {
    const Failed failed{t.stream(), t.event(), t.event()};
    t.ok(t.api.record_event(0, failed.stream, failed.before));
    enqueue_fault(t, failed.stream);
    t.ok(t.api.record_event(0, failed.stream, failed.after));
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_stream(0, failed.stream, HAL_NO_TIMEOUT); });
    return failed;
}

HAL_CASE("45079.T1.synchronize_device.fault.async_error_surfaces", clauses{"45079/T1.7"}, authority::A,
         needs{E::synchronize_device, faulty(), op(fault_op)})
(Test& t) {
    const hal_stream s = t.stream();
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT), "before the failure");
    enqueue_fault(t, s);
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); });
}

HAL_CASE("45079.T3.synchronize_stream.fault.error_surfaces", clauses{"45079/T3.4"}, authority::A,
         needs{E::synchronize_stream, faulty(), faulty_events(), op(fault_op)})
(Test& t) {
    const Failed failed = make_failed(t);
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_stream(0, failed.stream, HAL_NO_TIMEOUT); });
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_device(0, HAL_NO_TIMEOUT); });
}

HAL_CASE("45079.T4.synchronize_event.fault.error_surfaces", clauses{"45079/T4.5"}, authority::A,
         needs{E::synchronize_event, faulty(), faulty_events(), op(fault_op)})
(Test& t) {
    const Failed failed = make_failed(t);
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_event(0, failed.after, HAL_NO_TIMEOUT); });
    t.ok(t.api.synchronize_event(0, failed.before, HAL_NO_TIMEOUT), "what was recorded before the failure");
}

// An error is an error: who polls would wait for ever on NOT_READY.
HAL_CASE("45079.T3.query_stream.norm.error_not_pending", clauses{"45079/T3.3"}, authority::A,
         needs{E::query_stream, faulty(), faulty_events(), op(fault_op)})
(Test& t) {
    const Failed failed = make_failed(t);
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.query_stream(0, failed.stream, nullptr); });
    hal_stream_info info{};
    info.header.size = sizeof info;
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.query_stream(0, failed.stream, &info); });
    t.eq(HAL_ERROR_KERNEL_FAULT, info.status, "status in the struct");
}

HAL_CASE("45079.T4.query_event.norm.error_not_pending", clauses{"45079/T4.4"}, authority::A,
         needs{E::query_event, faulty(), faulty_events(), op(fault_op)})
(Test& t) {
    const Failed failed = make_failed(t);
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.query_event(0, failed.after); });
    t.ok(t.api.query_event(0, failed.before), "what was recorded before the failure");
}

HAL_CASE("45079.T3.stream_add_callback.fault.status_on_error", clauses{"45079/T3.5"}, authority::A,
         needs{E::stream_add_callback, faulty(), op(fault_op)})
(Test& t) {
    const hal_stream s = t.stream();
    auto& status = t.keep<std::atomic<int32_t>>(INT32_MIN);
    const auto keep = [](void* user, hal_dev, hal_stream, hal_status got) {
        *static_cast<std::atomic<int32_t>*>(user) = got;
    };
    enqueue_fault(t, s);
    t.ok(t.api.stream_add_callback(0, s, keep, &status));
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT); });
    if (t.check(status != INT32_MIN, "the callback is called on a failed stream")) {
        t.eq(HAL_ERROR_KERNEL_FAULT, static_cast<hal_status>(status.load()), "the stream's error in the callback");
    }
}

HAL_CASE("hal.stream_ext.reset_stream.fault.recovers", clauses{"45079/T3.1"}, authority::A,
         needs{E::reset_stream, faulty(), memory_io(), E::async_memory_copy_h2d, op(fault_op)})
(Test& t) {
    const hal_stream s = t.stream();
    const hal_stream other = t.stream();
    const Pattern pattern = t.pattern();
    HostBuffer& source = t.host(pattern, 1000);
    const DeviceBuffer& skipped = t.device(1000);
    const DeviceBuffer& unhurt = t.device(1000);
    const DeviceBuffer& later = t.device(1000);
    enqueue_fault(t, s);
    t.fails(HAL_ERROR_KERNEL_FAULT, [&] { return t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT); });
    (void)t.api.async_memory_copy_h2d(0, s, skipped.ptr, source.data(), 1000);
    t.ok(t.api.async_memory_copy_h2d(0, other, unhurt.ptr, source.data(), 1000));
    t.ok(t.api.synchronize_stream(0, other, HAL_NO_TIMEOUT), "another stream goes on");
    t.ok(t.api.reset_stream(0, s));
    t.ok(t.api.query_stream(0, s, nullptr), "after the reset");
    t.ok(t.api.async_memory_copy_h2d(0, s, later.ptr, source.data(), 1000));
    t.ok(t.api.synchronize_stream(0, s, HAL_NO_TIMEOUT));
    t.expect(skipped, poison, "work of the failed stream was skipped");
    t.expect(unhurt, pattern, "work of another stream");
    t.expect(later, pattern, "work after the reset");
}

}  // namespace
}  // namespace hal::conformance

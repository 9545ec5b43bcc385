// Tables 3 to 5: one use of each entry, for the cases of use.hpp.
#include "kernel_call.hpp"
#include "use.hpp"
#include "waits.hpp"

namespace hal::conformance {
namespace {

void expect_stream_of(Test& t, hal_dev dev, hal_stream stream) {
    if (t.api.query_stream) {
        hal_stream_info info{};
        info.header.size = sizeof info;
        t.ok(t.api.query_stream(dev, stream, &info), "query_stream");
        t.eq(dev, info.device, "device of the stream");
    }
}

void wait_for(Test& t, hal_dev dev, hal_stream stream) {
    t.ok(t.api.synchronize_stream ? t.api.synchronize_stream(dev, stream, HAL_NO_TIMEOUT)
                                  : t.api.synchronize_device(dev, HAL_NO_TIMEOUT),
         "wait for the stream");
}

HAL_DEVICE_USE(3, 1, create_stream, "leak.create_destroy", authority::S, E::destroy_stream, E::synchronize_device) {
    const OwnStream stream(t, dev);
    t.check(stream.get() != nullptr, "the handle was written");
    wait_for(t, dev, stream.get());
    expect_stream_of(t, dev, stream.get());
}

// With a record in it, so that it has begun to work.
HAL_DEVICE_USE(3, 2, destroy_stream, "leak.loop", authority::S, E::create_stream, event_io()) {
    const OwnEvent event(t, dev);
    {
        const OwnStream stream(t, dev);
        t.ok(t.api.record_event(dev, stream.get(), event.get()));
    }
    t.ok(t.api.synchronize_event(dev, event.get(), HAL_NO_TIMEOUT));
}

HAL_DEVICE_USE(3, 3, query_stream, "leak.loop", authority::D) {
    const OwnStream stream(t, dev);
    expect_stream_of(t, dev, stream.get());
    expect_stream_of(t, dev, nullptr);
}

HAL_DEVICE_USE(3, 4, synchronize_stream, "leak.loop", authority::D) {
    const OwnStream stream(t, dev);
    t.ok(t.api.synchronize_stream(dev, stream.get(), HAL_NO_TIMEOUT));
}

struct Seen : Count {
    std::atomic<hal_dev> device{INT32_MIN};
    static void by(void* user_data, hal_dev device, hal_stream stream, hal_status status) {
        static_cast<Seen*>(user_data)->device = device;
        up(static_cast<Count*>(static_cast<Seen*>(user_data)), device, stream, status);
    }
};

HAL_DEVICE_USE(3, 5, stream_add_callback, "leak.loop", authority::D, E::synchronize_device) {
    const OwnStream stream(t, dev);
    auto seen = std::make_unique<Seen>();
    t.ok(t.api.stream_add_callback(dev, stream.get(), &Seen::by, seen.get()));
    wait_for(t, dev, stream.get());
    t.eq(1, seen->calls.load(), "calls");
    t.eq(dev, seen->device.load(), "device of the callback");
    if (seen->calls == 0) {
        (void)seen.release();  // it may still come
    }
}

HAL_DEVICE_USE(3, 6, stream_wait_event, "leak.loop", authority::D, event_io(), E::synchronize_device) {
    const OwnStream producer(t, dev);
    const OwnStream consumer(t, dev);
    const OwnEvent event(t, dev);
    t.ok(t.api.record_event(dev, producer.get(), event.get()));
    t.ok(t.api.stream_wait_event(dev, consumer.get(), event.get()));
    wait_for(t, dev, consumer.get());
}

void use_event(Test& t, hal_dev dev) {
    const OwnEvent event(t, dev);
    t.check(event.get() != nullptr, "the handle was written");
    t.ok(t.api.record_event(dev, nullptr, event.get()));
    t.ok(t.api.synchronize_event(dev, event.get(), HAL_NO_TIMEOUT));
    if (t.api.query_event) {
        t.ok(t.api.query_event(dev, event.get()), "query after the wait");
    }
}

HAL_DEVICE_USE(4, 1, create_event, "leak.create_destroy", authority::D, event_io()) {
    use_event(t, dev);
}
HAL_DEVICE_USE(4, 2, destroy_event, "leak.trend", authority::D, event_io()) {
    use_event(t, dev);
}
HAL_DEVICE_USE(4, 3, record_event, "leak.loop", authority::D, event_io()) {
    use_event(t, dev);
}
HAL_DEVICE_USE(4, 4, query_event, "leak.loop", authority::D, event_io()) {
    use_event(t, dev);
}
HAL_DEVICE_USE(4, 5, synchronize_event, "leak.loop", authority::D, event_io()) {
    use_event(t, dev);
}

HAL_USE(5, 1, register_kernel, "leak.loop", authority::A) {
    t.check(kernels_of(t) == kernels_of(t), "the same list again");
}

// ---- GB/T 46345 A.6: what streams hold is given back ----

// Several at once, each having worked.
void check_stream_resources(Test& t) {
    constexpr int at_once = 8;
    constexpr uint64_t rounds = 25;
    t.no_leak(rounds, [&] {
        std::vector<std::unique_ptr<OwnStream>> streams;
        const OwnEvent event(t, 0);
        for (int i = 0; i < at_once; ++i) {
            streams.push_back(std::make_unique<OwnStream>(t, 0));
            t.ok(t.api.record_event(0, streams.back()->get(), event.get()));
        }
        t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    });
}

const NeedGroup& stream_resources() {
    static const NeedGroup group{E::create_stream, E::create_event, E::destroy_event, E::record_event,
                                 E::synchronize_device};
    return group;
}

HAL_CASE("45079.T3.destroy_stream.norm.resources_gone", clauses{"46345/A6.e", "45079/T3.2"}, authority::S,
         needs{E::destroy_stream, stream_resources()}, cls::medium, exclusive)
(Test& t) {
    check_stream_resources(t);
}
HAL_CASE("46345.A6.d_stream_resources_gone", clauses{"46345/A6.d", "45079/T3.2"}, authority::S,
         needs{E::destroy_stream, stream_resources()}, cls::medium, exclusive)
(Test& t) {
    check_stream_resources(t);
}
HAL_CASE("46345.A6.e_stream_create_destroy", clauses{"46345/A6.e", "45079/T3.1"}, authority::S,
         needs{E::destroy_stream, E::create_stream, E::synchronize_device}, cls::medium, exclusive)
(Test& t) {
    check_use_keeps_nothing(t, &use_create_stream);
}

}  // namespace
}  // namespace hal::conformance

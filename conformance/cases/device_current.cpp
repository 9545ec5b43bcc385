// Table 1: the device that is current on a thread.
#include "use.hpp"

namespace hal::conformance {
namespace {

HAL_CASE("45079.T1.set_device.norm.each_index", clauses{"45079/T1.5"}, authority::S,
         needs{E::set_device, E::get_device})
(Test& t) {
    for (hal_dev dev = t.facts.device_count - 1; dev >= 0; --dev) {
        t.ok(t.api.set_device(dev));
        t.eq(dev, current_device(t), "current device");
    }
}

HAL_CASE("45079.T1.set_device.edge.same_again", clauses{"45079/T1.5"}, authority::D,
         needs{E::set_device, E::get_device})
(Test& t) {
    const hal_dev last = t.facts.device_count - 1;
    for (int i = 0; i < 10'000; ++i) {
        t.ok(t.api.set_device(last));
    }
    t.eq(last, current_device(t), "current device");
    t.no_leak(1000, [&] { t.ok(t.api.set_device(last)); });
}

HAL_CASE("45079.T1.set_device.err.invalid_keeps_state", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device}, bad_devices())
(Test& t) {
    const hal_dev last = t.facts.device_count - 1;
    t.ok(t.api.set_device(last));
    t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(t.bad_device()); });
    t.eq(last, current_device(t), "current device after the refusal");
}

void check_per_thread(Test& t) {
    std::atomic<int> arrived{0};
    t.threads(8, [&](int thread) {
        const hal_dev mine = thread % t.facts.device_count;
        t.ok(t.api.set_device(mine));
        for (++arrived; arrived < 8;) {
            std::this_thread::yield();  // every thread has set its own before any looks
        }
        t.eq(mine, current_device(t), "current device of this thread");
    });
}

HAL_CASE("45079.T1.set_device.conc.per_thread", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device, devices(2), free_threads})
(Test& t) {
    check_per_thread(t);
}

// The same from the reader's side: many looks while others set.
HAL_CASE("45079.T1.get_device.conc.per_thread", clauses{"45079/T1.6"}, authority::A,
         needs{E::get_device, E::set_device, devices(2), free_threads})
(Test& t) {
    check_per_thread(t);
    t.threads(8, [&](int thread) {
        const hal_dev mine = thread % t.facts.device_count;
        for (int i = 0; i < 1000; ++i) {
            t.ok(t.api.set_device(mine));
            t.eq(mine, current_device(t), "current device while other threads set theirs");
        }
    });
}

HAL_CASE("45079.T1.set_device.conc.new_thread_default", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device, devices(2)})
(Test& t) {
    t.ok(t.api.set_device(1));
    t.threads(1, [&](int) { t.eq(0, current_device(t), "current device of a new thread"); });
}

HAL_CASE("45079.T1.set_device.life.after_reinit", clauses{"45079/T1.5"}, authority::A,
         needs{E::set_device, E::get_device, devices(2)})
(Test& t) {
    const auto second = t.another();
    const Api& api = second->api();
    const auto current = [&] {
        hal_dev got = INT32_MIN;
        t.ok(api.get_device(&got));
        return got;
    };
    t.ok(t.api.set_device(1));
    t.ok(second->initialize());
    t.eq(0, current(), "current device in another instance");
    if (api.initialize && api.finalize) {
        t.ok(api.set_device(1));
        t.ok(api.finalize());
        t.ok(api.initialize());
        t.eq(0, current(), "current device after finalize and initialize");
    }
    t.ok(second->finalize());
}

HAL_CASE("45079.T1.set_device.stress.flip", clauses{"45079/T1.5"}, authority::D,
         needs{E::set_device, E::get_device, memory_io(), devices(2)})
(Test& t) {
    std::vector<DeviceBuffer*> buffers;
    std::vector<Pattern> patterns;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        patterns.push_back(t.pattern());
        buffers.push_back(&t.device(patterns.back(), 97, dev));
    }
    for (int i = 0; i < 20'000; ++i) {
        const auto current = static_cast<hal_dev>(t.random() % static_cast<uint64_t>(t.facts.device_count));
        const auto used = static_cast<size_t>(t.random() % static_cast<uint64_t>(t.facts.device_count));
        t.ok(t.api.set_device(current));
        if (i % 8 == 0) {
            t.expect(*buffers[used], patterns[used], "data of a device that may not be current");
        }
        t.eq(current, current_device(t), "current device, whatever was copied elsewhere");
    }
}

HAL_CASE("45079.T1.set_device.norm.work_lands", clauses{"45079/T1.5", "45079/T2.16"}, authority::S,
         needs{E::set_device, E::device_memory_allocate, E::device_memory_deallocate, E::device_memory_stats,
               devices(2)},
         exclusive, over("dev", {"0", "1"}))
(Test& t) {
    constexpr uint64_t block = 16U << 20U;
    const hal_dev dev = t.param("dev") == "0" ? 0 : 1;
    const auto used = [&](hal_dev on) {
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        t.ok(t.api.device_memory_stats(on, &stats));
        return stats.used_bytes;
    };
    t.ok(t.api.set_device(dev));
    const uint64_t before = used(dev);
    const uint64_t other = used(1 - dev);
    hal_dptr ptr = 0;
    t.ok(t.api.device_memory_allocate(dev, block, &ptr));
    t.le(before + block, used(dev), "bytes in use on the device that was set and named");
    t.eq(other, used(1 - dev), "bytes in use on the other");
    t.ok(t.api.device_memory_deallocate(dev, ptr, block));
}

HAL_CASE("45079.T1.set_device.norm.data_isolated", clauses{"45079/T1.5", "45079/T2.1"}, authority::D,
         needs{E::set_device, memory_io(), devices(2)})
(Test& t) {
    t.ok(t.api.set_device(1));  // an explicit device wins over the current one
    std::vector<std::pair<DeviceBuffer*, Pattern>> all;
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        const Pattern pattern = t.pattern();
        all.emplace_back(&t.device(pattern, 4097, dev), pattern);
    }
    for (const auto& [buffer, pattern] : all) {
        t.expect(*buffer, pattern, "data after all devices were written");
    }
}

// The null stream belongs to the device that the call names.
HAL_CASE("45079.T1.set_device.norm.null_stream_follows", clauses{"45079/T1.5", "45079/T1.7"}, authority::S,
         needs{E::set_device, E::synchronize_device, any_work, a_gate, devices(2)})
(Test& t) {
    Work& w = t.work(nullptr, 1);
    t.ok(t.api.set_device(1));
    const Gate g = t.gate(nullptr, 1);
    w.enqueue();
    Helper wait = t.blocks([&] { return t.api.synchronize_device(1, HAL_NO_TIMEOUT); }, g);
    g.open();
    t.ok(wait.status());
    w.expect_done();
}

HAL_CASE("45079.T1.set_device.order.switch_while_pending", clauses{"45079/T1.5", "45079/T1.7"}, authority::D,
         needs{E::set_device, E::synchronize_device, any_work, a_gate, devices(2)})
(Test& t) {
    Work& first = t.work(nullptr, 0);
    Work& second = t.work(nullptr, 1);
    const Gate g = t.gate(nullptr, 0);
    first.enqueue();
    t.ok(t.api.set_device(1));
    second.enqueue();
    t.ok(t.returns([&] { return t.api.synchronize_device(1, HAL_NO_TIMEOUT); }, g));
    second.expect_done();
    g.open();
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    first.expect_done();
}

// ---- get_device ----

HAL_CASE("45079.T1.get_device.norm.reflects_set", clauses{"45079/T1.6"}, authority::S,
         needs{E::get_device, E::set_device})
(Test& t) {
    for (int i = 0; i < 50; ++i) {
        const auto dev = static_cast<hal_dev>(t.random() % static_cast<uint64_t>(t.facts.device_count));
        t.ok(t.api.set_device(dev));
        t.eq(dev, current_device(t), "current device");
        t.eq(dev, current_device(t), "current device, asked again");
    }
}

HAL_CASE("45079.T1.get_device.edge.after_failed_set", clauses{"45079/T1.6"}, authority::A,
         needs{E::get_device, E::set_device})
(Test& t) {
    for (hal_dev dev = 0; dev < t.facts.device_count; ++dev) {
        t.ok(t.api.set_device(dev));
        for (const hal_dev bad : {-1, t.facts.device_count, INT32_MAX, INT32_MIN}) {
            t.fails(HAL_ERROR_INVALID_DEVICE, [&] { return t.api.set_device(bad); });
            t.eq(dev, current_device(t), "current device after the refusal");
        }
    }
}

HAL_CASE("45079.T1.get_device.edge.inside_callback", clauses{"45079/T1.6"}, authority::Q,
         needs{E::get_device, E::stream_add_callback, E::synchronize_device})
(Test& t) {
    struct Look {
        const Api& api;
        std::atomic<int32_t> status{HAL_ERROR_INTERNAL};
        std::atomic<hal_dev> device{INT32_MIN};
    };
    // Never freed, in case the callback is late.
    static auto* const looks = new std::deque<Look>;
    Look& look = looks->emplace_back(t.api);
    const auto callback = [](void* user, hal_dev, hal_stream, hal_status) {
        Look& mine = *static_cast<Look*>(user);
        hal_dev got = INT32_MIN;
        mine.status = mine.api.get_device(&got);
        mine.device = got;
    };
    t.ok(t.api.stream_add_callback(0, nullptr, callback, &look));
    t.ok(t.api.synchronize_device(0, HAL_NO_TIMEOUT));
    t.eq(static_cast<int32_t>(HAL_OK), look.status.load(), "status inside a callback");
    t.check(look.device >= 0 && look.device < t.facts.device_count, "a valid index inside a callback");
}

HAL_CASE("45079.T1.get_device.norm.cheap", clauses{"45079/T1.6"}, authority::Q, needs{E::get_device}, exclusive)
(Test& t) {
    constexpr int batch = 1000;
    constexpr double most_ns = 1000;
    std::vector<double> times;
    for (int i = 0; i < 21; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < batch; ++k) {
            hal_dev got = INT32_MIN;
            (void)t.api.get_device(&got);
        }
        times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() /
                        batch);
    }
    std::nth_element(times.begin(), times.begin() + 10, times.end());
    t.le(times[10], most_ns, "nanoseconds of a call, median");
}

HAL_CASE("45079.T1.get_device.norm.initial_valid", clauses{"45079/T1.6"}, authority::S, needs{E::get_device})
(Test& t) {
    t.threads(1, [&](int) {
        const hal_dev first = current_device(t);
        t.check(first >= 0 && first < t.facts.device_count, "a valid index before any set_device");
    });
}

HAL_CASE("45079.T1.get_device.norm.not_cached_wrongly", clauses{"45079/T1.6"}, authority::A,
         needs{E::get_device, E::set_device, E::create_event, E::record_event, E::synchronize_device, devices(2)})
(Test& t) {
    t.ok(t.api.set_device(0));
    const hal_event event = t.event(1);
    t.ok(t.api.record_event(1, nullptr, event));
    t.ok(t.api.synchronize_device(1, HAL_NO_TIMEOUT));
    t.eq(0, current_device(t), "current device after work on another");
    if (t.facts.has(E::device_memory_allocate) && t.facts.has(E::device_memory_deallocate)) {
        hal_dptr ptr = 0;
        t.ok(t.api.device_memory_allocate(1, 256, &ptr));
        t.eq(0, current_device(t), "current device after an allocation on another");
        t.ok(t.api.device_memory_deallocate(1, ptr, 256));
        t.eq(0, current_device(t), "current device after its release");
    }
}

}  // namespace
}  // namespace hal::conformance

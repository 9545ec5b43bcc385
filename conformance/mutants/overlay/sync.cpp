// Mutants of waiting: synchronize_device, synchronize_stream, synchronize_event, and the queries that do not wait.
#include <atomic>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {

// ---- synchronize_device ----

void dsync_noop(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t) {
        return base.device.synchronize_device(self, device, 0) == HAL_ERROR_INVALID_DEVICE ? HAL_ERROR_INVALID_DEVICE
                                                                                           : HAL_OK;
    };
}

namespace {
std::atomic<hal_stream> first_stream{nullptr};
}
void dsync_one_stream(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        const hal_status status = base.stream.create_stream(self, device, desc, out);
        hal_stream none = nullptr;
        if (status == HAL_OK && device == 0) {
            first_stream.compare_exchange_strong(none, *out);
        }
        return status;
    };
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        hal_stream expected = stream;
        first_stream.compare_exchange_strong(expected, nullptr);
        return base.stream.destroy_stream(self, device, stream);
    };
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        return device == 0 ? base.stream.synchronize_stream(self, 0, first_stream, timeout_ns)
                           : base.device.synchronize_device(self, device, timeout_ns);
    };
}

// Forgets the default stream.
void dsync_not_the_null_stream(Plugin& plugin) {
    with_hidden_streams(plugin);
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (stream != nullptr || device != 0) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        const hal_dev elsewhere = 1 % device_count(self);  // what synchronize_device does not look at
        return base.stream.stream_add_callback(self, elsewhere, hidden_stream(self, elsewhere), callback, user);
    };
}

void dsync_current_not_arg(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        hal_dev now = 0;
        (void)base.device.get_device(self, &now);
        const bool known = device >= 0 && device < device_count(self);
        return base.device.synchronize_device(self, known ? now : device, timeout_ns);
    };
}

void dsync_all_devices(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        const hal_status status = base.device.synchronize_device(self, device, timeout_ns);
        for (hal_dev other = 0; status == HAL_OK && other < device_count(self); ++other) {
            (void)base.device.synchronize_device(self, other, timeout_ns);
        }
        return status;
    };
}

void dsync_no_time_limit(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t) {
        return base.device.synchronize_device(self, device, HAL_NO_TIMEOUT);
    };
}

void dsync_timeout_as_ok(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        const hal_status status = base.device.synchronize_device(self, device, timeout_ns);
        return status == HAL_ERROR_TIMEOUT ? HAL_OK : status;
    };
}

// ---- synchronize_stream ----

void ssync_noop(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t) {
        const hal_status status = base.stream.synchronize_stream(self, device, stream, 0);
        return status == HAL_ERROR_TIMEOUT ? HAL_OK : status;
    };
}

// Waits until one more operation is complete.
void ssync_first_only(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        hal_stream_info begin{};
        begin.header.size = sizeof begin;
        if (base.stream.query_stream(self, device, stream, &begin) != HAL_NOT_READY) {
            return base.stream.synchronize_stream(self, device, stream, timeout_ns);
        }
        hal_stream_info now = begin;
        while (now.completed_count == begin.completed_count &&
               base.stream.query_stream(self, device, stream, &now) == HAL_NOT_READY) {
            std::this_thread::yield();
        }
        return HAL_OK;
    };
}

void ssync_whole_device(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        const hal_status status = base.stream.synchronize_stream(self, device, stream, timeout_ns);
        return status == HAL_OK ? base.device.synchronize_device(self, device, timeout_ns) : status;
    };
}

void ssync_no_time_limit(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t) {
        return base.stream.synchronize_stream(self, device, stream, HAL_NO_TIMEOUT);
    };
}

// Takes nanoseconds for milliseconds: a limit is over a million times too soon.
void ssync_limit_too_short(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        const bool limited = timeout_ns != HAL_NO_TIMEOUT;
        return base.stream.synchronize_stream(self, device, stream, limited ? timeout_ns / 1'000'000 : timeout_ns);
    };
}

// A time-out is told as the error of the stream.
void ssync_timeout_is_driver_error(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        const hal_status status = base.stream.synchronize_stream(self, device, stream, timeout_ns);
        return status == HAL_ERROR_TIMEOUT ? refuse(self, HAL_ERROR_DRIVER, "the wait failed") : status;
    };
}

void ssync_error_swallowed(Plugin& plugin) {
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        const hal_status status = base.stream.synchronize_stream(self, device, stream, timeout_ns);
        return status == HAL_ERROR_KERNEL_FAULT ? HAL_OK : status;
    };
}

// ---- synchronize_event ----

void esync_noop(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t) {
        const hal_status status = base.event.query_event(self, device, event);
        return status == HAL_NOT_READY ? HAL_OK : status;
    };
}

void esync_waits_whole_device(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
        const hal_status status = base.event.synchronize_event(self, device, event, timeout_ns);
        return status == HAL_OK ? base.device.synchronize_device(self, device, timeout_ns) : status;
    };
}

void esync_no_time_limit(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t) {
        return base.event.synchronize_event(self, device, event, HAL_NO_TIMEOUT);
    };
}

void esync_limit_too_short(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
        const bool limited = timeout_ns != HAL_NO_TIMEOUT;
        return base.event.synchronize_event(self, device, event, limited ? timeout_ns / 1'000'000 : timeout_ns);
    };
}

// One waiter at a time: the second sleeps until the first is done, and is then told that it was late.
void esync_one_waiter(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
        static std::atomic<int> waiting{0};
        if (waiting.fetch_add(1) != 0) {
            --waiting;
            return refuse(self, HAL_ERROR_BUSY, "another thread waits for this event");
        }
        const hal_status status = base.event.synchronize_event(self, device, event, timeout_ns);
        --waiting;
        return status;
    };
}

// ---- Queries ----

void query_always_ready(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        const hal_status status = base.stream.query_stream(self, device, stream, out);
        return status == HAL_NOT_READY ? HAL_OK : status;
    };
}

void query_never_ready(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        const hal_status status = base.stream.query_stream(self, device, stream, out);
        return status == HAL_OK ? HAL_NOT_READY : status;
    };
}

void query_blocks(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        drain(self, device, stream);
        return base.stream.query_stream(self, device, stream, out);
    };
}

void query_error_as_pending(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        const hal_status status = base.stream.query_stream(self, device, stream, out);
        return status == HAL_ERROR_KERNEL_FAULT ? HAL_NOT_READY : status;
    };
}

namespace {
template <class Change>
hal_status changed_info(hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out, Change change) {
    const hal_status status = base.stream.query_stream(self, device, stream, out);
    if (out != nullptr && status >= 0 && out->header.size >= sizeof *out) {
        change(*out);
    }
    return status;
}
}  // namespace

void query_info_of_device_0(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        return changed_info(self, device, stream, out, [](hal_stream_info& info) { info.device = 0; });
    };
}

void query_counts_stand(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        return changed_info(self, device, stream, out, [](hal_stream_info& info) { info.submitted_count = 0; });
    };
}

void query_priority_forgotten(Plugin& plugin) {
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        return changed_info(self, device, stream, out, [](hal_stream_info& info) { info.priority = 0; });
    };
}

}  // namespace hal::mutants

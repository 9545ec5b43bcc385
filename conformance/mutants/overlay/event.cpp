// Mutants of tables 4 and 104: events.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {

// ---- record_event ----

namespace {
bool usable(hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
    return base.stream.query_stream(self, device, stream, nullptr) >= 0 &&
           base.event.query_event(self, device, event) >= 0;
}
std::mutex events_mutex;
std::set<hal_event> noted;
bool note(hal_event event) {  // true the first time
    const std::lock_guard lock(events_mutex);
    return noted.insert(event).second;
}
void unnote(hal_event event) {
    const std::lock_guard lock(events_mutex);
    noted.erase(event);
}
}  // namespace

void event_early(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        return usable(self, device, stream, event) ? HAL_OK : base.event.record_event(self, device, stream, event);
    };
}

void event_rerecord_keeps_done(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        return usable(self, device, stream, event) && !note(event)
                   ? HAL_OK
                   : base.event.record_event(self, device, stream, event);
    };
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        unnote(event);
        return base.event.destroy_event(self, device, event);
    };
}

void event_null_stream_refused(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        return stream == nullptr ? refuse(self, HAL_ERROR_INVALID_HANDLE, "record_event wants a stream")
                                 : base.event.record_event(self, device, stream, event);
    };
}

void event_on_null_stream(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        return base.event.record_event(self, device, usable(self, device, stream, event) ? nullptr : stream, event);
    };
}

void event_record_waits(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        const hal_status status = base.event.record_event(self, device, stream, event);
        if (status == HAL_OK) {
            (void)base.event.synchronize_event(self, device, event, HAL_NO_TIMEOUT);
        }
        return status;
    };
}

// A ring of 1,000 pending records.
void event_flood_refused(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        static std::atomic<unsigned> records{0};
        return ++records > 20'000 ? refuse(self, HAL_ERROR_OUT_OF_RESOURCES, "too many records")
                                  : base.event.record_event(self, device, stream, event);
    };
}

// ---- create_event, destroy_event ----

void event_shared_handle(Plugin& plugin) {
    static std::atomic<hal_event> last{nullptr};
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        static std::atomic<unsigned> calls{0};
        if (++calls % 10 == 0 && desc == nullptr && out != nullptr && last != nullptr) {
            *out = last;
            return HAL_OK;
        }
        const hal_status status = base.event.create_event(self, device, desc, out);
        if (status == HAL_OK) {
            last = *out;
        }
        return status;
    };
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        hal_event expected = event;
        last.compare_exchange_strong(expected, nullptr);
        return base.event.destroy_event(self, device, event);
    };
}

void event_not_written(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        hal_event unseen = nullptr;
        const hal_status status = base.event.create_event(self, device, desc, out == nullptr ? nullptr : &unseen);
        if (status == HAL_OK) {
            (void)base.event.destroy_event(self, device, unseen);
        }
        return status;
    };
}

void event_born_pending(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.query_event(self, device, event);
        const std::lock_guard lock(events_mutex);
        return status == HAL_OK && !noted.contains(event) ? HAL_NOT_READY : status;
    };
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        (void)note(event);
        return base.event.record_event(self, device, stream, event);
    };
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        unnote(event);
        return base.event.destroy_event(self, device, event);
    };
}

// Keeps destroyed events for reuse, with what was recorded on them.
void event_reused_with_state(Plugin& plugin) {
    static std::vector<hal_event> kept;
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.query_event(self, device, event);
        if (status != HAL_NOT_READY) {
            return base.event.destroy_event(self, device, event);
        }
        const std::lock_guard lock(events_mutex);
        kept.push_back(event);
        return HAL_OK;
    };
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        const std::lock_guard lock(events_mutex);
        if (kept.empty() || desc != nullptr || out == nullptr) {
            return base.event.create_event(self, device, desc, out);
        }
        *out = kept.back();
        kept.pop_back();
        return HAL_OK;
    };
}

void event_leak(Plugin& plugin) {
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.destroy_event(self, device, event);
        if (status == HAL_OK) {
            lose_memory(1024);
        }
        return status;
    };
}

void event_few(Plugin& plugin) {
    static std::atomic<int> live{0};
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        if (live >= 1000) {
            return refuse(self, HAL_ERROR_INTERNAL, "the table of events is full");
        }
        const hal_status status = base.event.create_event(self, device, desc, out);
        live += status == HAL_OK ? 1 : 0;
        return status;
    };
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.destroy_event(self, device, event);
        live -= status == HAL_OK ? 1 : 0;
        return status;
    };
}

void event_destroy_waits(Plugin& plugin) {
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        if (base.event.query_event(self, device, event) == HAL_NOT_READY) {
            (void)base.event.synchronize_event(self, device, event, HAL_NO_TIMEOUT);
        }
        return base.event.destroy_event(self, device, event);
    };
}

void event_null_destroyed(Plugin& plugin) {
    plugin.event.destroy_event = [](hal_instance* self, hal_dev device, hal_event event) {
        return event == nullptr ? HAL_OK : base.event.destroy_event(self, device, event);
    };
}

void event_stale_accepted(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.query_event(self, device, event);
        return status == HAL_ERROR_INVALID_HANDLE && event != nullptr ? HAL_OK : status;
    };
}

// ---- query_event ----

void event_always_ready(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.query_event(self, device, event);
        return status == HAL_NOT_READY ? HAL_OK : status;
    };
}

void event_query_blocks(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        return base.event.synchronize_event(self, device, event, HAL_NO_TIMEOUT);
    };
}

void event_flickers(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        static std::atomic<unsigned> calls{0};
        const hal_status status = base.event.query_event(self, device, event);
        return status == HAL_OK && ++calls % 5000 == 0 ? HAL_NOT_READY : status;
    };
}

// Learns that work is complete only when somebody waits.
void event_ready_only_after_wait(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        (void)note(event);
        return base.event.record_event(self, device, stream, event);
    };
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
        const hal_status status = base.event.synchronize_event(self, device, event, timeout_ns);
        if (status == HAL_OK) {
            unnote(event);
        }
        return status;
    };
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        const hal_status status = base.event.query_event(self, device, event);
        const std::lock_guard lock(events_mutex);
        return status == HAL_OK && noted.contains(event) ? HAL_NOT_READY : status;
    };
}

// ---- event_ext ----

void elapsed_microseconds(Plugin& plugin) {
    plugin.event_ext.event_elapsed = [](hal_instance* self, hal_event start, hal_event end, int64_t* out) {
        const hal_status status = base.event_ext.event_elapsed(self, start, end, out);
        if (status == HAL_OK) {
            *out /= 1000;
        }
        return status;
    };
}

void elapsed_reversed(Plugin& plugin) {
    plugin.event_ext.event_elapsed = [](hal_instance* self, hal_event start, hal_event end, int64_t* out) {
        return base.event_ext.event_elapsed(self, end, start, out);
    };
}

void elapsed_without_timing(Plugin& plugin) {
    plugin.event_ext.event_elapsed = [](hal_instance* self, hal_event start, hal_event end, int64_t* out) {
        const hal_status status = base.event_ext.event_elapsed(self, start, end, out);
        if (status == HAL_ERROR_INVALID_ARGUMENT && out != nullptr) {
            *out = 0;
            return HAL_OK;
        }
        return status;
    };
}

void event_ipc_garbage_accepted(Plugin& plugin) {
    plugin.event_ext.event_ipc_import = [](hal_instance* self, hal_dev device, const hal_ipc_handle* handle,
                                           hal_event* out) {
        const hal_status status = base.event_ext.event_ipc_import(self, device, handle, out);
        return status != HAL_OK && handle != nullptr && out != nullptr && device >= 0 && device < device_count(self)
                   ? base.event.create_event(self, device, nullptr, out)
                   : status;
    };
}

// The importer gets an event of its own that knows nothing of the exporter's.
void event_ipc_not_shared(Plugin& plugin) {
    plugin.event_ext.event_ipc_import = [](hal_instance* self, hal_dev device, const hal_ipc_handle* handle,
                                           hal_event* out) {
        const hal_status status = base.event_ext.event_ipc_import(self, device, handle, out);
        if (status != HAL_OK) {
            return status;
        }
        (void)base.event.destroy_event(self, device, *out);
        return base.event.create_event(self, device, nullptr, out);
    };
}

void event_ipc_flag_not_needed(Plugin& plugin) {
    plugin.event_ext.event_ipc_export = [](hal_instance* self, hal_dev device, hal_event event, hal_ipc_handle* out) {
        const hal_status status = base.event_ext.event_ipc_export(self, device, event, out);
        if (status == HAL_ERROR_INVALID_ARGUMENT && out != nullptr) {
            std::memset(out, 3, sizeof *out);
            return HAL_OK;
        }
        return status;
    };
}

}  // namespace hal::mutants

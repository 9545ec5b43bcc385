// Mutants of table 3: making and destroying streams, waiting of one for another.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {
namespace {

// A second stream of the base behind each stream, for mutants that split one in two.
class Twins {
  public:
    hal_stream of(hal_instance* self, hal_dev device, hal_stream stream) {
        const std::lock_guard lock(mutex_);
        hal_stream& twin = map_[stream];
        if (twin == nullptr) {
            (void)base.stream.create_stream(self, device, nullptr, &twin);
        }
        return twin;
    }
    void drop(hal_instance* self, hal_dev device, hal_stream stream) {
        hal_stream twin = nullptr;
        {
            const std::lock_guard lock(mutex_);
            const auto found = map_.find(stream);
            if (found == map_.end()) {
                return;
            }
            twin = found->second;
            map_.erase(found);
        }
        (void)base.stream.destroy_stream(self, device, twin);
    }

  private:
    std::mutex mutex_;
    std::map<hal_stream, hal_stream> map_;
};
Twins twins;

// Every second operation of a created stream goes to its twin.
hal_stream either(hal_instance* self, hal_dev device, hal_stream stream) {
    static std::atomic<unsigned> turn{0};
    return stream == nullptr || turn++ % 2 == 0 ? stream : twins.of(self, device, stream);
}

}  // namespace

// ---- Making ----

void stream_unordered(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        return base.stream.stream_add_callback(self, device, either(self, device, stream), callback, user);
    };
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             hal_dptr src, uint64_t size) {
        return base.memory.async_memory_copy_d2d(self, device, either(self, device, stream), dst, src, size);
    };
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        return base.memory.async_memory_copy_h2d(self, device, either(self, device, stream), dst, src, size);
    };
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream stream, void* dst,
                                             hal_dptr src, uint64_t size) {
        return base.memory.async_memory_copy_d2h(self, device, either(self, device, stream), dst, src, size);
    };
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        const hal_status status = base.stream.synchronize_stream(self, device, stream, timeout_ns);
        return status != HAL_OK || stream == nullptr
                   ? status
                   : base.stream.synchronize_stream(self, device, twins.of(self, device, stream), timeout_ns);
    };
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        twins.drop(self, device, stream);
        return base.stream.destroy_stream(self, device, stream);
    };
}

void stream_handle_not_written(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        hal_stream unseen = nullptr;
        const hal_status status = base.stream.create_stream(self, device, desc, out == nullptr ? nullptr : &unseen);
        if (status == HAL_OK) {
            (void)base.stream.destroy_stream(self, device, unseen);
        }
        return status;
    };
}

void stream_all_same(Plugin& plugin) {
    static std::mutex mutex;
    static std::map<hal_dev, std::pair<hal_stream, int>> shared;
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        const std::lock_guard lock(mutex);
        auto& [handle, users] = shared[device];
        if (users == 0 || out == nullptr || desc != nullptr) {
            const hal_status status = base.stream.create_stream(self, device, desc, out);
            if (status == HAL_OK && desc == nullptr) {
                handle = *out;
                users = 1;
            }
            return status;
        }
        *out = handle;
        ++users;
        return HAL_OK;
    };
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        const std::lock_guard lock(mutex);
        auto& [handle, users] = shared[device];
        return stream == handle && users > 0 && --users > 0 ? HAL_OK : base.stream.destroy_stream(self, device, stream);
    };
}

void stream_leaks_fd(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        const hal_status status = base.stream.create_stream(self, device, desc, out);
        if (status == HAL_OK) {
            (void)dup(2);
        }
        return status;
    };
}

void stream_leaks_memory(Plugin& plugin) {
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        const hal_status status = base.stream.destroy_stream(self, device, stream);
        if (status == HAL_OK) {
            lose_memory(2048);
        }
        return status;
    };
}

void stream_leaks_thread(Plugin& plugin) {
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        const hal_status status = base.stream.destroy_stream(self, device, stream);
        static std::atomic<int> calls{0};  // not each: the system has not so many threads
        if (status == HAL_OK && calls++ % 50 == 0) {
            std::thread([] { pause(); }).detach();
        }
        return status;
    };
}

void stream_flags_accepted(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        if (desc == nullptr || desc->header.size < sizeof *desc) {
            return base.stream.create_stream(self, device, desc, out);
        }
        hal_stream_desc cleared = *desc;
        cleared.flags = 0;
        return base.stream.create_stream(self, device, &cleared, out);
    };
}

void stream_priority_clamped(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        const hal_status status = base.stream.create_stream(self, device, desc, out);
        return status == HAL_ERROR_INVALID_ARGUMENT && out != nullptr && desc != nullptr && desc->priority != 0
                   ? base.stream.create_stream(self, device, nullptr, out)
                   : status;
    };
}

void stream_priority_range_reversed(Plugin& plugin) {
    plugin.stream_ext.stream_priority_range = [](hal_instance* self, hal_dev device, int32_t* least,
                                                 int32_t* greatest) {
        return base.stream_ext.stream_priority_range(self, device, greatest, least);
    };
}

// Synchronises with everything else on the device, as the oldest kind of default stream does.
void stream_null_waits_for_all(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        return base.stream.stream_add_callback(self, device, nullptr, callback, user) == HAL_OK
                   ? HAL_OK
                   : base.stream.stream_add_callback(self, device, stream, callback, user);
    };
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        const hal_status status = base.stream.synchronize_stream(self, device, stream, timeout_ns);
        return status == HAL_OK ? base.stream.synchronize_stream(self, device, nullptr, timeout_ns) : status;
    };
}

// ---- Destroying ----

namespace {
struct Guarded {
    hal_stream_callback callback;
    void* user;
};
std::mutex dropped_mutex;
std::set<hal_stream> dropped;
// Calls it unless its stream was destroyed meanwhile.
void call_unless_dropped(void* argument, hal_dev device, hal_stream stream, hal_status status) {
    const Guarded guarded = *static_cast<Guarded*>(argument);
    delete static_cast<Guarded*>(argument);
    {
        const std::lock_guard lock(dropped_mutex);
        if (dropped.contains(stream)) {
            return;
        }
    }
    guarded.callback(guarded.user, device, stream, status);
}
}  // namespace

void stream_destroy_drops_pending(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        return callback == nullptr ? base.stream.stream_add_callback(self, device, stream, callback, user)
                                   : base.stream.stream_add_callback(self, device, stream, call_unless_dropped,
                                                                     new Guarded{callback, user});
    };
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        {
            const std::lock_guard lock(dropped_mutex);
            dropped.insert(stream);
        }
        const hal_status status = base.stream.destroy_stream(self, device, stream);
        const std::lock_guard lock(dropped_mutex);
        dropped.erase(stream);
        return status;
    };
}

// Returns while the work still runs; it is cleared away later.
// The instance outlives what still runs: the fault is the early return, not what becomes of the memory behind it.
void stream_destroy_does_not_wait(Plugin& plugin) {
    static std::atomic<int> running{0};
    static void (*destroy_below)(hal_instance*) = nullptr;
    destroy_below = plugin.descriptor.destroy;
    plugin.descriptor.destroy = [](hal_instance* self) {
        while (running != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        destroy_below(self);
    };
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        if (base.stream.synchronize_stream(self, device, stream, 0) != HAL_ERROR_TIMEOUT) {
            return base.stream.destroy_stream(self, device, stream);
        }
        ++running;
        std::thread([=] {
            (void)base.stream.destroy_stream(self, device, stream);
            --running;
        }).detach();
        return HAL_OK;
    };
}

void stream_null_destroyable(Plugin& plugin) {
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        return stream == nullptr && device >= 0 && device < device_count(self)
                   ? HAL_OK
                   : base.stream.destroy_stream(self, device, stream);
    };
}

void stream_unknown_destroyed(Plugin& plugin) {
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        const hal_status status = base.stream.destroy_stream(self, device, stream);
        return status == HAL_ERROR_INVALID_HANDLE && stream != nullptr ? HAL_OK : status;
    };
}

void stream_native_handle_wanders(Plugin& plugin) {
    plugin.stream_ext.stream_native_handle = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t* out) {
        static std::atomic<uint64_t> calls{0};
        const hal_status status = base.stream_ext.stream_native_handle(self, device, stream, out);
        if (status == HAL_OK) {
            *out += calls++;
        }
        return status;
    };
}

void stream_reset_noop(Plugin& plugin) {
    plugin.stream_ext.reset_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        const hal_status status = base.stream.query_stream(self, device, stream, nullptr);
        return status == HAL_ERROR_KERNEL_FAULT ? HAL_OK : base.stream_ext.reset_stream(self, device, stream);
    };
}

// ---- stream_wait_event ----

void wait_noop(Plugin& plugin) {
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        const hal_status status = base.event.query_event(self, 0, event);
        return status == HAL_NOT_READY ? HAL_OK : base.stream.stream_wait_event(self, device, stream, event);
    };
}

void wait_blocks_host(Plugin& plugin) {
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        const hal_status status = base.stream.stream_wait_event(self, device, stream, event);
        for (hal_dev owner = 0; status == HAL_OK && owner < device_count(self); ++owner) {
            (void)base.event.synchronize_event(self, owner, event, HAL_NO_TIMEOUT);
        }
        return status;
    };
}

namespace {
struct Awaited {
    hal_instance* self;
    hal_dev device;
    hal_event event;
};
void poll_event(void* argument, hal_dev, hal_stream, hal_status) {
    const Awaited awaited = *static_cast<Awaited*>(argument);
    delete static_cast<Awaited*>(argument);
    while (base.event.query_event(awaited.self, awaited.device, awaited.event) == HAL_NOT_READY) {
        std::this_thread::yield();
    }
}
}  // namespace

// Asks for the record when the stream gets there, not when the call is made.
void wait_latest_record(Plugin& plugin) {
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        const hal_status known = base.event.query_event(self, device, event);
        if (known != HAL_OK && known != HAL_NOT_READY) {
            return base.stream.stream_wait_event(self, device, stream, event);
        }
        return base.stream.stream_add_callback(self, device, stream, poll_event, new Awaited{self, device, event});
    };
}

void wait_cross_device_noop(Plugin& plugin) {
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        const bool foreign = base.event.query_event(self, device, event) == HAL_ERROR_INVALID_HANDLE;
        const bool known = device >= 0 && device < device_count(self) && event != nullptr;
        return foreign && known && base.event.query_event(self, 1 - device, event) >= 0
                   ? HAL_OK
                   : base.stream.stream_wait_event(self, device, stream, event);
    };
}

void wait_null_stream_noop(Plugin& plugin) {
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        return stream == nullptr && base.event.query_event(self, device, event) == HAL_NOT_READY
                   ? HAL_OK
                   : base.stream.stream_wait_event(self, device, stream, event);
    };
}

// Knows one awaited event a stream: of a fan-in the last wins.
void wait_only_last(Plugin& plugin) {
    static std::mutex mutex;
    static std::map<hal_stream, int> waits;
    plugin.stream.stream_wait_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        const std::lock_guard lock(mutex);
        return waits[stream]++ % 16 != 15 && base.event.query_event(self, device, event) == HAL_NOT_READY
                   ? HAL_OK
                   : base.stream.stream_wait_event(self, device, stream, event);
    };
}

}  // namespace hal::mutants

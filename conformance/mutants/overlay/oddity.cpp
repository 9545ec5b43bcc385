// Odd and legal: what some back end does and the contract allows. No case may accuse one of these.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {
namespace {

void nap(std::chrono::microseconds time) {
    std::this_thread::sleep_for(time);
}

// Takes a claim of get_device_properties away.
template <uint32_t flag>
hal_status without_flag(hal_instance* self, hal_dev device, hal_device_properties* out) {
    const hal_status status = base.device_ext.get_device_properties(self, device, out);
    if (status == HAL_OK && out->header.size >= offsetof(hal_device_properties, flags) + sizeof out->flags) {
        out->flags &= ~flag;
    }
    return status;
}

}  // namespace

// Completion is noticed only now and then, until somebody waits for it.
namespace {
class Unnoticed {
  public:
    // Of an object that was just asked: for `looks` more answers its completion is not noticed.
    hal_status look(void* object, hal_status status, int looks) {
        const std::lock_guard lock(mutex_);
        if (status == HAL_NOT_READY) {
            left_[object] = looks;
        } else if (const auto found = left_.find(object); status == HAL_OK && found != left_.end()) {
            if (--found->second == 0) {
                left_.erase(found);
            }
            return HAL_NOT_READY;
        }
        return status;
    }
    hal_status waited(hal_status status) {
        const std::lock_guard lock(mutex_);
        if (status == HAL_OK) {
            left_.clear();
        }
        return status;
    }

  private:
    std::mutex mutex_;
    std::map<void*, int> left_;
};
Unnoticed unnoticed;

void notice_when_waiting(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
        return unnoticed.waited(base.event.synchronize_event(self, device, event, timeout_ns));
    };
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        return unnoticed.waited(base.stream.synchronize_stream(self, device, stream, timeout_ns));
    };
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        return unnoticed.waited(base.device.synchronize_device(self, device, timeout_ns));
    };
}
}  // namespace

// Events are looked at in rounds: they become ready in bursts.
void equivalent_bursts(Plugin& plugin) {
    notice_when_waiting(plugin);
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        return unnoticed.look(event, base.event.query_event(self, device, event), 50);
    };
}

// Finished work of a stream is noticed at the third look.
void equivalent_late_ready(Plugin& plugin) {
    notice_when_waiting(plugin);
    plugin.stream.query_stream = [](hal_instance* self, hal_dev device, hal_stream stream, hal_stream_info* out) {
        return unnoticed.look(stream, base.stream.query_stream(self, device, stream, out), 2);
    };
}

// All streams of a device are one queue, which is legal where concurrent streams are not claimed.
void equivalent_one_queue(Plugin& plugin) {
    plugin.device_ext.get_device_properties = without_flag<HAL_DEVICE_CONCURRENT_STREAMS>;
    // Operations of every stream wait for the last one of any other.
    static std::mutex mutex;
    static std::map<std::pair<hal_instance*, hal_dev>, hal_stream> last;
    static const auto chain = [](hal_instance* self, hal_dev device, hal_stream stream) {
        const std::lock_guard lock(mutex);
        const auto found = last.find({self, device});
        if (found != last.end() && found->second != stream) {
            hal_event event = nullptr;
            if (base.event.create_event(self, device, nullptr, &event) == HAL_OK) {
                if (base.event.record_event(self, device, found->second, event) == HAL_OK) {
                    (void)base.stream.stream_wait_event(self, device, stream, event);
                }
                (void)base.event.destroy_event(self, device, event);
            }
        }
        last[{self, device}] = stream;
    };
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (callback != nullptr && base.stream.query_stream(self, device, stream, nullptr) >= 0) {
            chain(self, device, stream);
        }
        return base.stream.stream_add_callback(self, device, stream, callback, user);
    };
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        if (base.stream.query_stream(self, device, stream, nullptr) >= 0) {
            chain(self, device, stream);
        }
        return base.memory.async_memory_copy_h2d(self, device, stream, dst, src, size);
    };
    plugin.stream.destroy_stream = [](hal_instance* self, hal_dev device, hal_stream stream) {
        {
            const std::lock_guard lock(mutex);
            std::erase_if(last, [&](const auto& one) { return one.second == stream && stream != nullptr; });
        }
        return base.stream.destroy_stream(self, device, stream);
    };
    plugin.device.finalize = [](hal_instance* self) {
        const std::lock_guard lock(mutex);
        std::erase_if(last, [&](const auto& one) { return one.first.first == self; });
        return base.device.finalize(self);
    };
}

// Device memory that the host cannot see.
void equivalent_not_host_accessible(Plugin& plugin) {
    plugin.device_ext.get_device_properties = without_flag<HAL_DEVICE_HOST_ACCESSIBLE>;
}

// All callbacks of the process run on one more thread, in order; the streams wait for it.
void equivalent_callback_thread(Plugin& plugin) {
    plugin.device_ext.get_device_properties = without_flag<HAL_DEVICE_CONCURRENT_STREAMS>;
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        struct Passed {
            hal_stream_callback callback;
            void* user;
        };
        if (callback == nullptr) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        const auto pass = [](void* argument, hal_dev dev, hal_stream s, hal_status status) {
            const std::unique_ptr<Passed> passed(static_cast<Passed*>(argument));
            std::thread([&] { passed->callback(passed->user, dev, s, status); }).join();
        };
        auto* const passed = new Passed{callback, user};
        const hal_status status = base.stream.stream_add_callback(self, device, stream, pass, passed);
        if (status != HAL_OK) {
            delete passed;
        }
        return status;
    };
}

// Four threads from the first initialize on, which stay.
void equivalent_extra_threads(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        static std::once_flag once;
        std::call_once(once, [] {
            for (int i = 0; i < 4; ++i) {
                std::thread([] { pause(); }).detach();
            }
        });
        return base.device.initialize(self);
    };
}

void equivalent_logs(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        if (const hal_host* host = host_of(self)) {
            host->log(host, HAL_LOG_DEBUG, "create_event");
            host->trace(host, HAL_TRACE_INSTANT, "create_event");
        }
        return base.event.create_event(self, device, desc, out);
    };
}

// Reads a pageable source when the call is made, which no caller can tell from later.
void equivalent_snapshot_source(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        if (src == nullptr || size == 0 || size > (uint64_t{1} << 20U)) {
            return base.memory.async_memory_copy_h2d(self, device, stream, dst, src, size);
        }
        auto* const copy =
            new std::vector<uint8_t>(static_cast<const uint8_t*>(src), static_cast<const uint8_t*>(src) + size);
        const hal_status status = base.memory.async_memory_copy_h2d(self, device, stream, dst, copy->data(), size);
        if (status != HAL_OK) {
            delete copy;
            return status;
        }
        const auto release = [](void* argument, hal_dev, hal_stream, hal_status) {
            delete static_cast<std::vector<uint8_t>*>(argument);
        };
        (void)base.stream.stream_add_callback(self, device, stream, release, copy);
        return HAL_OK;
    };
}

void equivalent_slower_calls(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        static thread_local unsigned calls = 0;
        if (++calls % 16 == 0) {
            nap(std::chrono::microseconds(50));
        }
        return base.event.record_event(self, device, stream, event);
    };
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        const hal_status status = base.device.synchronize_device(self, device, timeout_ns);
        nap(std::chrono::microseconds(200));
        return status;
    };
}

// Wakes up later than it could.
void equivalent_lazy_wait(Plugin& plugin) {
    plugin.event.synchronize_event = [](hal_instance* self, hal_dev device, hal_event event, uint64_t timeout_ns) {
        const hal_status status = base.event.synchronize_event(self, device, event, timeout_ns);
        if (status == HAL_OK) {
            nap(std::chrono::microseconds(300));
        }
        return status;
    };
}

// Newer than the checker: each table has a slot that it does not know.
void equivalent_newer_table(Plugin& plugin) {
    static struct Longer {
        hal_event_table known;
        void (*unknown)();
    } longer{};
    longer.known = plugin.event;
    longer.known.header.size = sizeof longer;
    static const hal_table_header* (*below)(hal_instance*, uint32_t) = nullptr;
    below = plugin.descriptor.get_table;
    plugin.descriptor.get_table = [](hal_instance* instance, uint32_t id_major) {
        return id_major == HAL_TABLE_event ? &longer.known.header : below(instance, id_major);
    };
    plugin.descriptor.size += 16;
}

// Older than the checker: the table of streams ends before stream_wait_event.
void equivalent_older_table(Plugin& plugin) {
    plugin.stream.header.size = offsetof(hal_stream_table, stream_wait_event);
    plugin.stream.stream_wait_event = nullptr;
}

// Offers rows 1 of the standard that are compulsory and nothing else.
void equivalent_smallest(Plugin& plugin) {
#define HAL_FN(table_name, entry, need, clause, since, effect, params)                       \
    if (std::string_view(#need) == "optional" && std::string_view(#entry) != "initialize" && \
        std::string_view(#entry) != "finalize") {                                            \
        plugin.table_name.entry = nullptr;                                                   \
    }
#include "hal/tables/all.def"
}

// Other words, another vendor code: texts are the plug-in's own.
void equivalent_other_texts(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        return status == HAL_OK ? status
                                : refuse(self, status, "\xE8\xAE\xBE\xE5\xA4\x87\xE4\xB8\x8D\xE5\xAD\x98\xE5\x9C\xA8");
    };
}

void slow_1000x(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance* self, hal_dev device, hal_event event) {
        static thread_local unsigned calls = 0;
        if (++calls % 64 == 0) {
            nap(std::chrono::milliseconds(1));
        }
        return base.event.query_event(self, device, event);
    };
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        nap(std::chrono::microseconds(100 + std::min<uint64_t>(size / 100'000, 10'000)));
        return base.memory.memory_copy_d2h(self, device, dst, src, size);
    };
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        nap(std::chrono::microseconds(100 + std::min<uint64_t>(size / 100'000, 10'000)));
        return base.memory.memory_copy_h2d(self, device, dst, src, size);
    };
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        nap(std::chrono::microseconds(300));
        return base.stream.create_stream(self, device, desc, out);
    };
}

}  // namespace hal::mutants

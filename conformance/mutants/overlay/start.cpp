// Mutants of how an instance starts, and of what the end of the process finds.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {

// The second start in a process takes longer than a user waits.
void init_slow(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        static std::atomic<int> calls{0};
        if (++calls == 2) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5200));
        }
        return base.device.initialize(self);
    };
}

void init_thread_crowd(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        for (unsigned i = 0; i < 8 * std::thread::hardware_concurrency() + 16; ++i) {
            std::thread([] { pause(); }).detach();
        }
        return base.device.initialize(self);
    };
}

namespace {
std::atomic<uint64_t> contexts{0};
}
// Each init_device makes a context on every device.
void init_takes_from_all(Plugin& plugin) {
    plugin.device.init_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.init_device(self, device);
        contexts += status == HAL_OK ? 1 : 0;
        return status;
    };
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        const hal_status status = base.memory.device_memory_stats(self, device, out);
        if (status == HAL_OK && out->header.size == sizeof *out) {
            out->used_bytes += contexts << 20U;
            out->free_bytes -= contexts << 20U;
        }
        return status;
    };
}

// A helper process of the second instance keeps what it inherited, the caller's pipes included, open.
void life_helper_keeps_pipes(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        static std::atomic<int> calls{0};
        if (++calls == 2 && fork() == 0) {
            sleep(20);
            _exit(0);
        }
        return base.device.initialize(self);
    };
}

namespace {
struct Registry {
    std::atomic<bool> gone{false};
    ~Registry() { gone = true; }
};
Registry registry;
}  // namespace

// An entry reaches for a static object that the end of the process has taken away.
void life_static_object_gone(Plugin& plugin) {
    plugin.device.get_device_count = [](hal_instance* self, int32_t* out_count) {
        if (registry.gone) {
            std::abort();
        }
        return base.device.get_device_count(self, out_count);
    };
}

}  // namespace hal::mutants

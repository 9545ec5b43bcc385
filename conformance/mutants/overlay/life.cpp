// Mutants of beginning and end: initialize, finalize, devices, threads, processes, and calls that never come back.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {

// ---- initialize, finalize ----

void init_twice_refused(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        const bool again = base.device.synchronize_device(self, 0, 0) != HAL_ERROR_NOT_INITIALIZED;
        return again ? refuse(self, HAL_ERROR_ALREADY_EXISTS, "initialised already") : base.device.initialize(self);
    };
}

void init_not_needed(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        const hal_status status = base.event.create_event(self, device, desc, out);
        if (status == HAL_ERROR_NOT_INITIALIZED && out != nullptr) {
            *out = reinterpret_cast<hal_event>(0x40);
            return HAL_OK;
        }
        return status;
    };
}

void fini_leaks_thread(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        const hal_status status = base.device.initialize(self);
        static std::atomic<int> left{500};
        if (status == HAL_OK && left-- > 0) {
            std::thread([] { pause(); }).detach();
        }
        return status;
    };
}

void fini_leaks_fd(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        const hal_status status = base.device.initialize(self);
        if (status == HAL_OK) {
            (void)!dup(STDERR_FILENO);
        }
        return status;
    };
}

void fini_leaks_memory(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        const hal_status status = base.device.initialize(self);
        if (status == HAL_OK) {
            lose_memory(1U << 20U);
        }
        return status;
    };
}

void fini_ignores_live_objects(Plugin& plugin) {
    plugin.device.finalize = [](hal_instance* self) {
        const hal_status status = base.device.finalize(self);
        return status == HAL_ERROR_BUSY ? HAL_OK : status;
    };
}

// Puts every callback off for 200 ms, past the end of everything.
void fini_callback_after(Plugin& plugin) {
    plugin.stream.stream_add_callback = [](hal_instance* self, hal_dev device, hal_stream stream,
                                           hal_stream_callback callback, void* user) {
        if (callback == nullptr || base.stream.query_stream(self, device, stream, nullptr) < 0) {
            return base.stream.stream_add_callback(self, device, stream, callback, user);
        }
        std::thread([=] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            callback(user, device, stream, HAL_OK);
        }).detach();
        return HAL_OK;
    };
}

void fini_only_on_the_same_thread(Plugin& plugin) {
    static std::thread::id home;
    plugin.device.initialize = [](hal_instance* self) {
        home = std::this_thread::get_id();
        return base.device.initialize(self);
    };
    plugin.device.finalize = [](hal_instance* self) {
        return home == std::this_thread::get_id() ? base.device.finalize(self)
                                                  : refuse(self, HAL_ERROR_INTERNAL, "not the thread of initialize");
    };
}

void deinit_not_counted(Plugin& plugin) {
    plugin.device.deinit_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.deinit_device(self, device);
        return status == HAL_ERROR_NOT_INITIALIZED ? HAL_OK : status;
    };
}

// Resets every device.
void deinit_hurts_others(Plugin& plugin) {
    static std::atomic<hal_dptr> last[2];
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_OK && device < 2 && size > 256) {
            last[device] = *out;
        }
        return status;
    };
    plugin.device.deinit_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.deinit_device(self, device);
        const hal_dptr other = device == 0 || device == 1 ? last[1 - device].load() : 0;
        if (status == HAL_OK && other != 0) {
            std::memset(reinterpret_cast<void*>(other), 0, 256);
        }
        return status;
    };
}

// ---- Leaving ----

void life_exit_in_error(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_ERROR_INVALID_DEVICE) {
            exit(-1);
        }
        return status;
    };
}

void life_exit0_midtest(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        static std::atomic<int> calls{0};
        if (++calls == 3) {
            _exit(0);
        }
        return base.memory.memory_copy_h2d(self, device, dst, src, size);
    };
}

void life_abort(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance*, hal_dev, void*, hal_dptr, uint64_t) -> hal_status {
        std::abort();
    };
}

void life_segv(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance*, hal_dev, hal_stream, hal_event) {
        static volatile uintptr_t nowhere = 8;  // volatile: the compiler would see the fault
        *reinterpret_cast<volatile int*>(nowhere) = 1;
        return HAL_OK;
    };
}

void life_throw(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        const hal_status status = base.stream.create_stream(self, device, desc, out);
        if (status == HAL_ERROR_INVALID_ARGUMENT) {
            throw std::invalid_argument("priority out of range");
        }
        return status;
    };
}

void life_throw_on_other_thread(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        std::thread([] { throw std::runtime_error("worker thread of the plug-in"); }).detach();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        return base.memory.async_memory_copy_h2d(self, device, stream, dst, src, size);
    };
}

void life_hang(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance*, hal_dev, hal_event) -> hal_status {
        for (;;) {
            pause();
        }
    };
}

void life_hang_ignores_term(Plugin& plugin) {
    plugin.event.query_event = [](hal_instance*, hal_dev, hal_event) -> hal_status {
        sigset_t all;
        sigfillset(&all);
        (void)pthread_sigmask(SIG_BLOCK, &all, nullptr);
        (void)signal(SIGTERM, SIG_IGN);
        for (;;) {
            asm volatile("" ::: "memory");
        }
    };
}

void life_deadlock_on_error(Plugin& plugin) {
    plugin.event.record_event = [](hal_instance* self, hal_dev device, hal_stream stream, hal_event event) {
        static std::atomic_flag held = ATOMIC_FLAG_INIT;
        while (held.test_and_set()) {
            std::this_thread::yield();
        }
        const hal_status status = base.event.record_event(self, device, stream, event);
        if (status != HAL_OK) {
            return status;  // and keeps the lock
        }
        held.clear();
        return status;
    };
}

void life_deadlock_in_allocate(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        static std::atomic_flag held = ATOMIC_FLAG_INIT;
        while (held.test_and_set()) {
            std::this_thread::yield();
        }
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_OK) {
            held.clear();
        }
        return status;
    };
}

// A few children that wait for nothing and outlive the call.
void life_fork_bomb_lite(Plugin& plugin) {
    plugin.memory.host_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, void** out) {
        static std::atomic<int> left{8};
        if (left-- > 0 && fork() == 0) {
            sleep(30);
            _exit(0);
        }
        return base.memory.host_memory_allocate(self, device, size, out);
    };
}

// A helper in a session of its own, as a licence daemon.
void life_child_left(Plugin& plugin) {
    plugin.memory.host_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, void** out) {
        static std::atomic<int> left{1};
        if (left-- > 0 && fork() == 0) {
            (void)setsid();
            (void)prctl(PR_SET_PDEATHSIG, 0);
            sleep(30);
            _exit(0);
        }
        return base.memory.host_memory_allocate(self, device, size, out);
    };
}

// ---- After the end of main and of threads ----

namespace {
std::atomic<bool> armed{false};
struct DiesLate {
    ~DiesLate() {
        if (armed) {
            std::abort();
        }
    }
};
DiesLate at_exit;
}  // namespace

void life_static_dtor_crash(Plugin& plugin) {
    armed = true;
    (void)plugin;
}

void life_tls_dtor_crash(Plugin& plugin) {
    static std::thread::id home;
    home = std::this_thread::get_id();
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        if (home != std::this_thread::get_id()) {
            static thread_local DiesLate at_thread_end;
            (void)&at_thread_end;
            armed = true;
        }
        return base.event.create_event(self, device, desc, out);
    };
}

void life_one_instance(Plugin& plugin) {
    plugin.descriptor.create = [](const hal_host* host, hal_instance** out) {
        static std::atomic<hal_instance*> only{nullptr};
        if (only != nullptr) {
            *out = only;
            return HAL_OK;
        }
        const hal_status status = base.descriptor.create(host, out);
        only = *out;
        return status;
    };
    plugin.descriptor.destroy = [](hal_instance*) {};
}

void life_fork_not_noticed(Plugin& plugin) {
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        const hal_status status = base.event.create_event(self, device, desc, out);
        return status == HAL_ERROR_FORKED ? HAL_OK : status;
    };
}

// Needs more stack than a small thread has.
void thread_deep_stack(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        volatile char scratch[512 * 1024];
        for (size_t i = 0; i < sizeof scratch; i += 4096) {
            scratch[i] = 1;
        }
        return base.device.synchronize_device(self, device, timeout_ns);
    };
}

// Knows the threads that it was first called from.
void thread_foreign_refused(Plugin& plugin) {
    static thread_local bool known = false;
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        known = true;
        return base.device.set_device(self, device);
    };
    plugin.device.initialize = [](hal_instance* self) {
        known = true;
        return base.device.initialize(self);
    };
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        return known ? base.event.create_event(self, device, desc, out)
                     : refuse(self, HAL_ERROR_NOT_INITIALIZED, "this thread has no context; call set_device");
    };
}

// Few threads may be inside at once.
void thread_eight_at_most(Plugin& plugin) {
    plugin.stream.create_stream = [](hal_instance* self, hal_dev device, const hal_stream_desc* desc, hal_stream* out) {
        static std::atomic<int> threads{0};
        static thread_local const int number = threads++;
        return number < 32 ? base.stream.create_stream(self, device, desc, out)
                           : refuse(self, HAL_ERROR_INTERNAL, "no slot for this thread");
    };
}

// The text of the last error of any thread.
void error_text_shared(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status == HAL_OK) {
            (void)refuse(self, HAL_OK, "");  // success clears it
        }
        return status;
    };
}

}  // namespace hal::mutants

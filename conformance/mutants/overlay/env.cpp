// Mutants that change what belongs to the process: as a side effect of an entry that has nothing to do with it.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "overlay.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hal::mutants {
namespace {

void (*side_effect)() = nullptr;

// The first use of device memory or of a stream, as a lazy driver starts then.
void on_first_use(Plugin& plugin, void (*effect)()) {
    side_effect = effect;
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        side_effect();
        return base.memory.device_memory_allocate(self, device, size, out);
    };
    plugin.event.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
        side_effect();
        return base.event.create_event(self, device, desc, out);
    };
}

}  // namespace

void env_ftz_on(Plugin& plugin) {
    on_first_use(plugin, [] {
#if defined(__x86_64__)
        _mm_setcsr(_mm_getcsr() | 0x8040U);
#else
        std::fesetround(FE_TOWARDZERO);
#endif
    });
}

void env_rounding_mode(Plugin& plugin) {
    on_first_use(plugin, [] { std::fesetround(FE_UPWARD); });
}

void env_setlocale(Plugin& plugin) {
    on_first_use(plugin, [] { (void)std::setlocale(LC_ALL, "C.UTF-8"); });
}

void env_sigsegv_handler(Plugin& plugin) {
    on_first_use(plugin, [] { (void)signal(SIGSEGV, [](int) { _exit(3); }); });
}

void env_sigpipe_ignored(Plugin& plugin) {
    on_first_use(plugin, [] { (void)signal(SIGPIPE, SIG_IGN); });
}

void env_signals_blocked(Plugin& plugin) {
    on_first_use(plugin, [] {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        (void)pthread_sigmask(SIG_BLOCK, &set, nullptr);
    });
}

void env_chdir(Plugin& plugin) {
    on_first_use(plugin, [] { (void)!chdir("/"); });
}

void env_umask(Plugin& plugin) {
    on_first_use(plugin, [] { (void)umask(0); });
}

void env_setenv(Plugin& plugin) {
    on_first_use(plugin, [] { (void)setenv("OMP_NUM_THREADS", "1", 1); });
}

void env_rlimit(Plugin& plugin) {
    on_first_use(plugin, [] {
        rlimit limit{};
        (void)getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max - 1;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    });
}

void env_closes_stdin(Plugin& plugin) {
    on_first_use(plugin, [] { (void)close(STDIN_FILENO); });
}

void env_affinity(Plugin& plugin) {
    on_first_use(plugin, [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(0, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
    });
}

void env_terminate_handler(Plugin& plugin) {
    on_first_use(plugin, [] { std::set_terminate([] { _exit(4); }); });
}

void env_prints(Plugin& plugin) {
    on_first_use(plugin, [] {
        std::puts("[acme] device memory pool ready");
        (void)std::fflush(stdout);
    });
}

void env_prints_stderr(Plugin& plugin) {
    on_first_use(plugin, [] { std::fputs("[acme] W0930 falling back to a slow path\n", stderr); });
}

void env_starts_at_load(Plugin& plugin) {
    // What a constructor of the library would do: it has happened before the first case looks.
    (void)setenv("ACME_RUNTIME_STARTED", "1", 1);
    (void)plugin;
}

// Counts, so that each life changes it, not the first alone.
void env_initialize_sets(Plugin& plugin) {
    plugin.device.initialize = [](hal_instance* self) {
        static std::atomic<int> lives{0};
        (void)setenv("ACME_LIVES", std::to_string(++lives).c_str(), 1);
        return base.device.initialize(self);
    };
}

void env_refusal_sets_locale(Plugin& plugin) {
    plugin.device.set_device = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.device.set_device(self, device);
        if (status != HAL_OK) {
            (void)std::setlocale(LC_ALL, "C.UTF-8");
        }
        return status;
    };
}

void env_wait_rounds_upward(Plugin& plugin) {
    plugin.device.synchronize_device = [](hal_instance* self, hal_dev device, uint64_t timeout_ns) {
        std::fesetround(FE_UPWARD);
        return base.device.synchronize_device(self, device, timeout_ns);
    };
}

}  // namespace hal::mutants

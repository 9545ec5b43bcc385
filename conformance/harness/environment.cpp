#include "environment.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cfenv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <locale>
#include <optional>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "api.hpp"

namespace hal::conformance {
namespace {

void read_float_unit(Environment& env) {
    env.rounding = std::fegetround();
#if defined(__x86_64__)
    constexpr uint32_t flush = 1U << 15U;
    constexpr uint32_t denormals = 1U << 6U;
    constexpr uint32_t masks = 0x1F80U;
    constexpr uint32_t x87_rounding = 0x0C00U;
    const uint32_t mxcsr = _mm_getcsr();
    uint16_t x87 = 0;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    env.flush_to_zero = (mxcsr & flush) != 0;
    env.denormals_are_zero = (mxcsr & denormals) != 0;
    env.float_control = (mxcsr & masks) | (uint64_t{x87 & ~x87_rounding} << 32U);
#elif defined(__aarch64__)
    constexpr uint64_t flush = 1U << 24U;
    constexpr uint64_t rounding = 3U << 22U;
    uint64_t fpcr = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
    env.flush_to_zero = env.denormals_are_zero = (fpcr & flush) != 0;  // one bit does both
    env.float_control = fpcr & ~(flush | rounding);
#endif
}

void read_signals(Environment& env) {
    for (int number = 1; number < NSIG; ++number) {
        // Refused for those that the C library keeps for itself, which then stay zero on both sides.
        (void)sigaction(number, nullptr, &env.handlers[static_cast<size_t>(number)]);
    }
    pthread_sigmask(SIG_BLOCK, nullptr, &env.blocked);
}

// umask() can only be read by changing it, which other threads would see.
std::string umask_of_status() {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("Umask:")) {
            return line.substr(line.find_first_of("01234567"));
        }
    }
    return "";
}

Environment::Descriptor descriptor(int fd) {
    struct stat info {};
    if (fstat(fd, &info) != 0) {
        return {};
    }
    return {true, info.st_dev, info.st_ino, fcntl(fd, F_GETFL)};
}

bool same(const Environment::Descriptor& a, const Environment::Descriptor& b) {
    return a.open == b.open && a.device == b.device && a.inode == b.inode && a.flags == b.flags;
}

bool same_set(const sigset_t& a, const sigset_t& b) {
    for (int number = 1; number < NSIG; ++number) {
        if (sigismember(&a, number) != sigismember(&b, number)) {
            return false;
        }
    }
    return true;
}

bool same_action(const struct sigaction& a, const struct sigaction& b) {
    // The wider member of the union; both are pointers.
    if (a.sa_sigaction != b.sa_sigaction) {
        return false;
    }
    // Without a handler the rest means nothing; the C library marks an action that was put back with a flag of its own.
    constexpr int restorer = 0x04000000;
    return a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN ||
           ((a.sa_flags | restorer) == (b.sa_flags | restorer) && same_set(a.sa_mask, b.sa_mask));
}

std::string name_of(const std::string& variable) {
    return variable.substr(0, variable.find('='));
}

void compare_signals(const Environment& before, const Environment& after, std::vector<std::string>& found) {
    for (size_t number = 1; number < NSIG; ++number) {
        if (!same_action(before.handlers[number], after.handlers[number])) {
            found.push_back("the handler of signal " + std::to_string(number) + " (" +
                            strsignal(static_cast<int>(number)) + ") was changed");
        }
    }
    if (!same_set(before.blocked, after.blocked)) {
        found.emplace_back("the set of blocked signals was changed");
    }
}

void compare_limits(const Environment& before, const Environment& after, std::vector<std::string>& found) {
    for (size_t i = 0; i < RLIM_NLIMITS; ++i) {
        const rlimit& a = before.limits[i];
        const rlimit& b = after.limits[i];
        if (a.rlim_cur != b.rlim_cur || a.rlim_max != b.rlim_max) {
            found.push_back("resource limit " + std::to_string(i) + " went from " + std::to_string(a.rlim_cur) +
                            " to " + std::to_string(b.rlim_cur));
        }
    }
}

// Names only: the values may be secrets.
void compare_variables(const Environment& before, const Environment& after, std::vector<std::string>& found) {
    std::vector<std::string> changed;
    std::set_symmetric_difference(before.variables.begin(), before.variables.end(), after.variables.begin(),
                                  after.variables.end(), std::back_inserter(changed));
    for (std::string& variable : changed) {
        variable = name_of(variable);
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    for (const std::string& variable : changed) {
        found.push_back("the environment variable " + variable + " was changed");
    }
}

template <class T>
void compare_value(const T& before, const T& after, const std::string& what, std::vector<std::string>& found) {
    if (!(before == after)) {
        found.push_back(what + " was changed");
    }
}

void compare_text(const std::string& before, const std::string& after, const std::string& what,
                  std::vector<std::string>& found) {
    if (before != after) {
        found.push_back(what + " went from '" + before + "' to '" + after + "'");
    }
}

}  // namespace

Environment Environment::now() {
    Environment env;
    read_float_unit(env);
    read_signals(env);
    env.locale = setlocale(LC_ALL, nullptr);
    env.cpp_locale = std::locale().name();
    env.thread_locale = uselocale(locale_t{});
    std::error_code failed;
    env.directory = std::filesystem::current_path(failed).string();
    env.umask = umask_of_status();
    for (size_t i = 0; i < RLIM_NLIMITS; ++i) {
        getrlimit(static_cast<__rlimit_resource_t>(i), &env.limits[i]);
    }
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
        env.variables.emplace_back(*variable);
    }
    std::sort(env.variables.begin(), env.variables.end());
    for (int fd = 0; fd < 3; ++fd) {
        env.descriptors[static_cast<size_t>(fd)] = descriptor(fd);
    }
    env.terminate = std::get_terminate();
    env.nice = getpriority(PRIO_PROCESS, 0);
    sched_getaffinity(0, sizeof env.cpus, &env.cpus);
    return env;
}

namespace {
std::optional<Environment>& remembered() {
    static std::optional<Environment> environment;
    return environment;
}
}  // namespace

void Environment::remember_before_load() {
    if (!remembered()) {
        remembered() = now();
    }
}

const Environment& Environment::before_load() {
    if (!remembered()) {
        throw HarnessError("no library was opened");
    }
    return *remembered();
}

std::vector<std::string> differences(const Environment& before, const Environment& after) {
    std::vector<std::string> found;
    compare_value(before.rounding, after.rounding, "the rounding mode of the floating point unit", found);
    compare_value(before.flush_to_zero, after.flush_to_zero, "flush-to-zero of the floating point unit", found);
    compare_value(before.denormals_are_zero, after.denormals_are_zero, "denormals-are-zero of the floating point unit",
                  found);
    compare_value(before.float_control, after.float_control, "the precision or traps of the floating point unit",
                  found);
    compare_signals(before, after, found);
    compare_text(before.locale, after.locale, "the locale", found);
    compare_text(before.cpp_locale, after.cpp_locale, "the C++ locale", found);
    compare_value(before.thread_locale, after.thread_locale, "the locale of the thread", found);
    compare_text(before.directory, after.directory, "the working directory", found);
    compare_text(before.umask, after.umask, "the umask", found);
    compare_limits(before, after, found);
    compare_variables(before, after, found);
    for (size_t fd = 0; fd < after.descriptors.size(); ++fd) {
        if (!same(before.descriptors[fd], after.descriptors[fd])) {
            found.push_back("descriptor " + std::to_string(fd) +
                            (after.descriptors[fd].open ? " was replaced or its flags were changed" : " was closed"));
        }
    }
    compare_value(before.terminate, after.terminate, "std::terminate's handler", found);
    compare_value(before.nice, after.nice, "the nice value", found);
    if (CPU_EQUAL(&before.cpus, &after.cpus) == 0) {
        found.emplace_back("the CPU affinity was changed");
    }
    return found;
}

}  // namespace hal::conformance

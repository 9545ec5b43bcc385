// What belongs to the process and not to a plug-in: a library that changes it harms the program that loads it.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <clocale>
#include <exception>
#include <string>
#include <vector>

namespace hal::conformance {

struct Environment {
    // Of the calling thread: rounding and flush modes of the floating point unit, blocked signals, locale, affinity,
    // nice value. Of the process: the rest.
    [[nodiscard]] static Environment now();

    // What it was before the plug-in's library was opened; remembered once, by open_target.
    static void remember_before_load();
    [[nodiscard]] static const Environment& before_load();

    struct Descriptor {
        bool open = false;
        uint64_t device = 0;
        uint64_t inode = 0;
        int flags = 0;
    };

    int rounding = 0;
    bool flush_to_zero = false;
    bool denormals_are_zero = false;
    uint64_t float_control = 0;  // exception masks and precision
    std::array<struct sigaction, NSIG> handlers{};
    sigset_t blocked{};
    std::string locale;
    std::string cpp_locale;
    locale_t thread_locale{};
    std::string directory;
    std::string umask;
    std::array<rlimit, RLIM_NLIMITS> limits{};
    std::vector<std::string> variables;  // sorted
    std::array<Descriptor, 3> descriptors{};
    std::terminate_handler terminate = nullptr;
    int nice = 0;
    cpu_set_t cpus{};
};

// A sentence for each difference.
[[nodiscard]] std::vector<std::string> differences(const Environment& before, const Environment& after);

}  // namespace hal::conformance

#include "probe.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "descendants.hpp"
#include "statistics.hpp"

namespace hal::bench {
namespace {

std::vector<int> allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &set)) {
                cpus.push_back(cpu);
            }
        }
    }
    return cpus;
}

void pin_this_thread(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

// Median over bursts: a burst in which a thread lost its core says nothing about the cache.
double round_trip_ns(int first_cpu, int second_cpu) {
    constexpr int bursts = 21;
    constexpr uint32_t trips = 500;
    alignas(64) std::atomic<uint32_t> ball{0};
    std::vector<double> samples;
    std::thread server([&] {
        pin_this_thread(first_cpu);
        for (int burst = 0; burst < bursts; ++burst) {
            const int64_t start = clock_ns();
            for (uint32_t trip = 0; trip < trips; ++trip) {
                const uint32_t value = ball.load(std::memory_order_relaxed);
                ball.store(value + 1, std::memory_order_release);
                while (ball.load(std::memory_order_acquire) != value + 2) {
                }
            }
            samples.push_back(static_cast<double>(clock_ns() - start) / trips);
        }
    });
    std::thread client([&] {
        pin_this_thread(second_cpu);
        for (uint32_t value = 1; value < 2 * trips * bursts; value += 2) {
            while (ball.load(std::memory_order_acquire) != value) {
            }
            ball.store(value + 1, std::memory_order_release);
        }
    });
    server.join();
    client.join();
    return median(samples);
}

// user, nice, system, irq, softirq and steal of the first line of /proc/stat.
int64_t machine_busy_ns() {
    std::ifstream file("/proc/stat");
    std::string label;
    std::array<int64_t, 8> field{};
    file >> label;
    for (auto& value : field) {
        file >> value;
    }
    const int64_t ticks = field[0] + field[1] + field[2] + field[5] + field[6] + field[7];
    return ticks * (INT64_C(1'000'000'000) / sysconf(_SC_CLK_TCK));
}

int64_t cpu_ns(int who) {
    rusage usage{};
    getrusage(who, &usage);
    const auto ns = [](const timeval& t) { return t.tv_sec * INT64_C(1'000'000'000) + t.tv_usec * INT64_C(1000); };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace

std::string contamination(const ProbeResult& before, const ProbeResult& after) {
    for (const auto* probe : {&before, &after}) {
        if (!probe->round_trip_ns) {
            return "one core only";
        }
        if (*probe->round_trip_ns > max_round_trip_ns) {
            return fmt::format("cache-line round trip of {:.0f} ns", std::ceil(*probe->round_trip_ns / 50) * 50);
        }
    }
    if (after.foreign_cpu > max_foreign_cpu) {
        return fmt::format("others used {:.1f} cores", after.foreign_cpu);
    }
    return {};
}

Probe::Times Probe::read() {
    return {clock_ns(), machine_busy_ns(), cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN) + descendants_cpu_ns()};
}

Probe::Probe() : last_(read()) {}

ProbeResult Probe::sample() {
    ProbeResult result;
    const auto cpus = allowed_cpus();
    if (cpus.size() >= 2) {
        result.round_trip_ns = round_trip_ns(cpus[0], cpus[1]);
    }
    const Times now = read();
    const auto foreign =
        static_cast<double>((now.machine_busy_ns - last_.machine_busy_ns) - (now.own_ns - last_.own_ns));
    // The kernel counts in ticks of 10 ms, so two of them may be missing or too many.
    constexpr double tick_error_ns = 20e6;
    result.foreign_cpu =
        std::max(0.0, foreign - tick_error_ns) / static_cast<double>(std::max<int64_t>(now.wall_ns - last_.wall_ns, 1));
    last_ = now;
    return result;
}

ProbeResult Probe::wait_quiet(double seconds) {
    const int64_t deadline = clock_ns() + static_cast<int64_t>(seconds * 1e9);
    for (;;) {
        const ProbeResult result = sample();
        if (contamination(result, result).empty() || clock_ns() >= deadline) {
            return result;
        }
        // Others' load shows only over time in which we do nothing.
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
}

}  // namespace hal::bench

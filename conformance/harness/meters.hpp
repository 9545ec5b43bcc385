// What the process and its devices hold, read from /proc and device_memory_stats, and the rule that tells a leak from
// growth that ends.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api.hpp"

namespace hal::conformance {

struct Meters {
    std::vector<uint64_t> device_bytes;  // in use, by device; empty where the plug-in has no device_memory_stats
    uint64_t heap_bytes = 0;             // what malloc has given out
    uint64_t resident_bytes = 0;
    uint64_t locked_bytes = 0;
    uint64_t threads = 0;
    uint64_t fds = 0;
    uint64_t maps = 0;
    uint64_t shm = 0;  // entries of /dev/shm
};

// Of this process alone.
[[nodiscard]] Meters read_meters();
// With the memory of the plug-in's devices.
[[nodiscard]] Meters read_meters(const Api& api, int32_t device_count);

// The sum of what the judged chunks must at least add before growth is called a leak.
struct LeakThresholds {
    uint64_t device_bytes = 1;
    uint64_t host_bytes = UINT64_C(64) << 10;
    uint64_t maps = 16;
    uint64_t handles = 4;  // descriptors, threads, entries of /dev/shm
    bool judge_host_memory = true;
};
// The smallest chunk of the devices; the host's memory is not judged in sanitizer builds, whose quarantine grows.
[[nodiscard]] LeakThresholds leak_thresholds(const Api& api, int32_t device_count);

struct Leak {
    std::string meter;    // "open descriptors"
    std::string growths;  // "+2 +2 +2 +2"
};

// One chunk to warm up, then four that are measured. A meter leaks if every chunk raises it and the sum reaches the
// threshold. A suspicion is measured for eight chunks more: a cache or an arena that still fills stops, a leak does
// not.
[[nodiscard]] std::vector<Leak> find_leaks(const std::function<Meters()>& read, const std::function<void()>& chunk,
                                           const LeakThresholds& thresholds);

}  // namespace hal::conformance

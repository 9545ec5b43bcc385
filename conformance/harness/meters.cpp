#include "meters.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

namespace hal::conformance {
namespace {

constexpr int measured_chunks = 4;
constexpr int confirming_chunks = 8;

#if defined(__has_feature)
#define HAL_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAL_SANITIZED 1
#else
#define HAL_SANITIZED 0
#endif
#if HAL_SANITIZED
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif

uint64_t entries_in(const char* directory) {
    std::error_code failed;
    uint64_t count = 0;
    for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed)) {
        ++count;
    }
    return count;
}

uint64_t lines_of(const char* path) {
    std::ifstream file(path);
    uint64_t count = 0;
    for (std::string line; std::getline(file, line);) {
        ++count;
    }
    return count;
}

// "VmRSS:      1234 kB" of /proc/self/status.
void read_status(Meters& meters) {
    std::ifstream file("/proc/self/status");
    std::string key;
    uint64_t value = 0;
    for (std::string rest; file >> key; std::getline(file, rest)) {
        if (key == "VmLck:" && file >> value) {
            meters.locked_bytes = value * 1024;
        } else if (key == "Threads:" && file >> value) {
            meters.threads = value;
        }
    }
}

// VmRSS is summed up from counters of each CPU and may lag behind by some pages; the roll-up is exact.
uint64_t resident_bytes() {
    std::ifstream file("/proc/self/smaps_rollup");
    std::string key;
    uint64_t value = 0;
    for (std::string rest; file >> key; std::getline(file, rest)) {
        if (key == "Rss:" && file >> value) {
            return value * 1024;
        }
    }
    return 0;
}

uint64_t heap_bytes() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

struct Meter {
    std::string name;
    uint64_t threshold;
    std::function<uint64_t(const Meters&)> value;
};

std::vector<Meter> judged_meters(size_t device_count, const LeakThresholds& limits) {
    std::vector<Meter> meters{
        {"open descriptors", limits.handles, [](const Meters& m) { return m.fds; }},
        {"threads", limits.handles, [](const Meters& m) { return m.threads; }},
        {"entries of /dev/shm", limits.handles, [](const Meters& m) { return m.shm; }},
        {"locked bytes", limits.host_bytes, [](const Meters& m) { return m.locked_bytes; }},
    };
    if (limits.judge_host_memory) {
        meters.push_back(
            {"bytes given out by malloc", limits.host_bytes, [](const Meters& m) { return m.heap_bytes; }});
        meters.push_back({"resident bytes", limits.host_bytes, [](const Meters& m) { return m.resident_bytes; }});
        meters.push_back({"mappings", limits.maps, [](const Meters& m) { return m.maps; }});
    }
    for (size_t dev = 0; dev < device_count; ++dev) {
        meters.push_back({"bytes in use on device " + std::to_string(dev), limits.device_bytes,
                          [dev](const Meters& m) { return m.device_bytes.at(dev); }});
    }
    return meters;
}

bool grows(const std::vector<Meters>& readings, const Meter& meter) {
    for (size_t i = 1; i < readings.size(); ++i) {
        if (meter.value(readings[i]) <= meter.value(readings[i - 1])) {
            return false;
        }
    }
    return meter.value(readings.back()) - meter.value(readings.front()) >= meter.threshold;
}

std::string growths(const std::vector<Meters>& readings, const Meter& meter) {
    std::string text;
    for (size_t i = 1; i < readings.size(); ++i) {
        text += (text.empty() ? "+" : " +") + std::to_string(meter.value(readings[i]) - meter.value(readings[i - 1]));
    }
    return text;
}

}  // namespace

Meters read_meters() {
    Meters meters;
    read_status(meters);
    meters.fds = entries_in("/proc/self/fd") - 1;  // without the one that reads
    meters.shm = entries_in("/dev/shm");
    meters.maps = lines_of("/proc/self/maps");
    meters.resident_bytes = resident_bytes();
    meters.heap_bytes = heap_bytes();
    return meters;
}

Meters read_meters(const Api& api, int32_t device_count) {
    Meters meters = read_meters();
    for (hal_dev dev = 0; api.device_memory_stats && dev < device_count; ++dev) {
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        meters.device_bytes.push_back(api.device_memory_stats(dev, &stats) == HAL_OK ? stats.used_bytes : 0);
    }
    return meters;
}

LeakThresholds leak_thresholds(const Api& api, int32_t device_count) {
    LeakThresholds thresholds;
    thresholds.judge_host_memory = !sanitized;
    for (hal_dev dev = 0; api.device_min_chunk_size && dev < device_count; ++dev) {
        uint64_t chunk = 0;
        if (api.device_min_chunk_size(dev, &chunk) == HAL_OK) {
            thresholds.device_bytes = std::max(thresholds.device_bytes, chunk);
        }
    }
    return thresholds;
}

std::vector<Leak> find_leaks(const std::function<Meters()>& read, const std::function<void()>& chunk,
                             const LeakThresholds& thresholds) {
    chunk();
    // Room for all of it now: the readings themselves must not show in the heap.
    std::vector<Meters> readings;
    readings.reserve(1 + measured_chunks + confirming_chunks);
    readings.push_back(read());
    auto suspects = judged_meters(readings.front().device_bytes.size(), thresholds);
    readings.front() = read();
    for (const int chunks : {measured_chunks, confirming_chunks}) {
        for (int i = 0; i < chunks && !suspects.empty(); ++i) {
            chunk();
            readings.push_back(read());
        }
        std::erase_if(suspects, [&](const Meter& meter) { return !grows(readings, meter); });
    }
    std::vector<Leak> leaks;
    for (const Meter& meter : suspects) {
        leaks.push_back({meter.name, growths(readings, meter)});
    }
    return leaks;
}

}  // namespace hal::conformance

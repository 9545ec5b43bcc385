#include "cpu_info.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <string_view>

#include "cores.hpp"

namespace hal::cpu {
namespace {

// "key<tab>: value" of /proc/cpuinfo.
std::string value_of(std::string_view line) {
    const size_t colon = line.find(": ");
    return colon == std::string_view::npos ? std::string() : std::string(line.substr(colon + 2));
}

void read_names(CpuInfo& info) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && (info.model.empty() || info.vendor.empty());) {
        if (line.starts_with("model name")) {
            info.model = value_of(line);
        } else if (line.starts_with("vendor_id") || line.starts_with("CPU implementer")) {
            info.vendor = value_of(line);
        }
    }
}

void read_level(CpuInfo& info) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool v2 =
        __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("ssse3");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    info.level = v4 ? 4 : v3 ? 3 : v2 ? 2 : 1;
    info.vector_bits = v4 ? 512 : v3 ? 256 : 128;
    info.arch = "x86-64-v" + std::to_string(info.level);
#else
    utsname names{};
    uname(&names);
    info.arch = names.machine;
    info.vector_bits = 128;
#endif
}

}  // namespace

CpuInfo read_cpu_info() {
    CpuInfo info;
    read_names(info);
    read_level(info);
    info.cores = shared::usable_cores();
    if (info.model.empty()) {
        info.model = info.arch;
    }
    return info;
}

}  // namespace hal::cpu

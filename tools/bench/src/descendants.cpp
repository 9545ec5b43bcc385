#include "descendants.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace hal::bench {
namespace {

struct Process {
    pid_t id;
    pid_t parent;
    int64_t ticks;
};

// Of /proc/<id>/stat; nothing if the process has just ended.
std::optional<Process> read_process(const std::string& id) {
    std::ifstream file("/proc/" + id + "/stat");
    std::string line;
    std::getline(file, line);
    const size_t name_end = line.rfind(')');  // the name before it may hold anything
    if (name_end == std::string::npos) {
        return std::nullopt;
    }
    std::istringstream fields(line.substr(name_end + 1));
    std::string ignored;
    Process process{static_cast<pid_t>(std::stol(id)), 0, 0};
    fields >> ignored >> process.parent;
    for (int field = 5; field < 14; ++field) {
        fields >> ignored;
    }
    // utime, stime, cutime and cstime of proc(5).
    for (int field = 14; field <= 17; ++field) {
        int64_t ticks = 0;
        fields >> ticks;
        process.ticks += ticks;
    }
    return process;
}

std::vector<Process> processes() {
    std::vector<Process> list;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
        const std::string name = entry.path().filename().string();
        if (std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
            if (const auto process = read_process(name)) {
                list.push_back(*process);
            }
        }
    }
    return list;
}

}  // namespace

int64_t descendants_cpu_ns() {
    const auto all = processes();
    std::set<pid_t> family{getpid()};
    int64_t ticks = 0;
    // Round after round finds another generation, whatever the order of the ids.
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& process : all) {
            if (family.contains(process.parent) && family.insert(process.id).second) {
                ticks += process.ticks;
                grew = true;
            }
        }
    }
    return ticks * (INT64_C(1'000'000'000) / sysconf(_SC_CLK_TCK));
}

}  // namespace hal::bench

#include "host_facts.hpp"

#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <clocale>
#include <fstream>
#include <string_view>

namespace hal::conformance {
namespace {

// The value of the first line "key<separator>value" of a file.
std::string value_in(const char* file, std::string_view key, char separator) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const size_t place = line.find(separator);
        if (line.starts_with(key) && place != std::string::npos) {
            std::string value = line.substr(place + 1);
            value.erase(0, value.find_first_not_of(" \""));
            value.erase(value.find_last_not_of(" \"") + 1);
            return value;
        }
    }
    return {};
}

bool allowed(std::string_view variable) {
    return variable.starts_with("HAL_") || variable.ends_with("_VISIBLE_DEVICES");
}

}  // namespace

std::map<std::string, std::string> host_facts() {
    std::map<std::string, std::string> facts;
    utsname system{};
    uname(&system);
    facts["kernel"] = std::string(system.sysname) + " " + system.release;
    facts["machine"] = system.machine;
    facts["system"] = value_in("/etc/os-release", "PRETTY_NAME", '=');
    facts["cpu"] = value_in("/proc/cpuinfo", "model name", ':');
    facts["cores"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
    facts["memory"] = value_in("/proc/meminfo", "MemTotal", ':');
    facts["libc"] = std::string("glibc ") + gnu_get_libc_version();
    facts["locale"] = std::setlocale(LC_ALL, nullptr);
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string_view text(*variable);
        const std::string_view name = text.substr(0, text.find('='));
        if (allowed(name)) {
            facts["environment." + std::string(name)] = text.substr(std::min(name.size() + 1, text.size()));
        }
    }
    return facts;
}

std::string suite_version() {
    return HAL_CONFORMANCE_VERSION;
}

std::string suite_build() {
#if defined(__clang__)
    std::string text = __VERSION__;  // names itself
#else
    std::string text = "gcc " __VERSION__;
#endif
#if defined(__SANITIZE_ADDRESS__)
    text += ", AddressSanitizer";
#endif
#if defined(__SANITIZE_THREAD__)
    text += ", ThreadSanitizer";
#endif
    return text;
}

}  // namespace hal::conformance

// What hal-info prints. Each command prints to stdout and returns the exit code of the program.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "hal/hal.hpp"

namespace hal::tool {

inline constexpr int exit_ok = 0;
inline constexpr int exit_refused = 1;    // --check, --why: not usable
inline constexpr int exit_no_device = 2;  // summary, --json
inline constexpr int exit_unusable = 3;   // the loader itself could not be opened

// What one device says about itself; a text that it does not tell is empty, a number absent.
struct DeviceRow {
    std::string backend;
    hal_dev ordinal = 0;
    std::string name;
    std::string type;
    std::string kind;
    std::string vendor;
    std::string pci;
    std::string uuid;
    bool software = false;
    std::optional<uint64_t> total_bytes;
    std::optional<uint64_t> free_bytes;
};

// Every device, and why there is none.
struct Devices {
    std::vector<DeviceRow> rows;
    Status status;
};

// Opens every selected back end.
Devices read_devices(Loader& loader);

// A list of the loader, or an exception with the loader's text.
template <class T>
std::vector<T> required(Result<std::vector<T>> list) {
    if (!list.ok()) {
        throw std::runtime_error(list.text());
    }
    return std::move(list).value();
}

int print_summary(Loader& loader);
int print_json(Loader& loader);
int print_search(Loader& loader);
int print_environment(Loader& loader);
int print_why(Loader& loader, const std::string& id);

// Opens a loader of its own that knows this manifest (or folder of manifests) and no variable.
int check_manifest(const std::string& path, hal_log_fn log);

// A candidate as an indented block of "label  text" lines, empty ones left out.
void print_candidate(const hal_backend_report& report);

inline void print_field(std::string_view label, std::string_view text) {
    if (!text.empty()) {
        fmt::print("  {:<9} {}\n", label, text);
    }
}

// Of HAL_VARIABLE_*: "used", "ignored", "unknown", "unset".
std::string_view use_name(uint32_t use);

// "15.6 GiB".
std::string bytes_text(uint64_t bytes);

}  // namespace hal::tool

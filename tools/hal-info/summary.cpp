#include <algorithm>
#include <array>

#include "info.hpp"
#include "log.hpp"

namespace hal::tool {

std::string bytes_text(uint64_t bytes) {
    constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

static std::string memory_text(const DeviceRow& row) {
    std::string text = row.total_bytes ? bytes_text(*row.total_bytes) : std::string();
    if (row.free_bytes) {
        text += fmt::format(", {} free", bytes_text(*row.free_bytes));
    }
    return text;
}

static std::string name_text(const DeviceRow& row) {
    std::string text = row.name.empty() ? row.type : row.name;
    if (!row.type.empty() && row.type != row.name && !row.name.empty()) {
        text += " (" + row.type + ")";
    }
    return text;
}

static void print_devices(const std::vector<DeviceRow>& rows) {
    // Columns as wide as their longest text.
    std::vector<std::array<std::string, 5>> cells;
    std::array<size_t, 5> widths{};
    for (const auto& row : rows) {
        cells.push_back({fmt::format("#{}", cells.size()), fmt::format("{}:{}", row.backend, row.ordinal),
                         row.kind + (row.software && row.kind != "cpu" ? ", software" : ""), memory_text(row),
                         name_text(row)});
        for (size_t column = 0; column < widths.size(); ++column) {
            widths[column] = std::max(widths[column], cells.back()[column].size());
        }
    }
    for (const auto& line : cells) {
        std::string text = " ";
        for (size_t column = 0; column < widths.size(); ++column) {
            if (widths[column] > 0) {
                text += fmt::format(" {:<{}} ", line[column], widths[column]);
            }
        }
        fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
    }
}

void print_candidate(const hal_backend_report& report) {
    const std::string_view id = *report.id == '\0' ? "(no id)" : report.id;
    fmt::print("{}  {}{}{}\n", id, hal_state_name(report.state), *report.code == '\0' ? "" : " ", report.code);
    std::string title = report.name;
    for (const std::string_view part : {report.version, report.vendor}) {
        title += (title.empty() || part.empty() ? "" : ", ") + std::string(part);
    }
    print_field("what", loader::printable(title, 800));
    print_field("state", hal_state_text(report.state));
    if (report.device_count >= 0) {
        print_field("devices", std::to_string(report.device_count));
    }
    print_field("manifest", report.manifest);
    print_field("library", report.library);
    print_field("cause", report.cause);
    print_field("next step", report.next_step);
}

int print_summary(Loader& loader) {
    const Devices devices = read_devices(loader);
    const auto reports = required(loader.reports());
    if (devices.rows.empty()) {
        fmt::print("No device: {}\n", devices.status.text());
    } else {
        fmt::print("Devices\n");
        print_devices(devices.rows);
    }
    for (const auto& report : reports) {
        fmt::print("\n");
        print_candidate(report);
    }
    return devices.rows.empty() ? exit_no_device : exit_ok;
}

}  // namespace hal::tool

// The decision chain of one back end.
#include <filesystem>

#include "info.hpp"

namespace hal::tool {

// By id, or by the manifest's file name for one that is too broken to have an id.
static bool is_meant(const hal_backend_report& report, const std::string& id) {
    const std::filesystem::path manifest(report.manifest);
    return id == report.id || id == manifest.filename() || id == manifest.stem();
}

static std::string place_text(const hal_backend_report& report, const std::vector<hal_search_place>& places) {
    const std::filesystem::path manifest(report.manifest);
    for (const auto& place : places) {
        if (place.rank == report.rank && (manifest == place.path || manifest.parent_path() == place.path)) {
            return fmt::format("{}, rank {} of the search: {}", place.path, place.rank, place.origin);
        }
    }
    return report.rank < 0 ? "given by the application" : fmt::format("rank {} of the search", report.rank);
}

static void print_chain(const hal_backend_report& report, const std::vector<hal_search_place>& places,
                        const std::vector<DeviceRow>& devices) {
    print_candidate(report);
    print_field("found in", place_text(report, places));
    for (size_t index = 0; index < devices.size(); ++index) {
        if (report.state == HAL_STATE_READY && devices[index].backend == report.id) {
            print_field("device", fmt::format("#{} {}:{} {}", index, devices[index].backend, devices[index].ordinal,
                                              devices[index].name));
        }
    }
}

static int print_unknown(Loader& loader, const std::string& id, const std::vector<hal_backend_report>& reports) {
    std::string known;
    for (const auto& report : reports) {
        known += fmt::format("{}{}", known.empty() ? "" : ", ", *report.id == '\0' ? report.manifest : report.id);
    }
    fmt::print("No manifest has the id {}. Known: {}.\nThe loader looked in these places:\n", id,
               known.empty() ? "none" : known);
    print_search(loader);
    return exit_refused;
}

int print_why(Loader& loader, const std::string& id) {
    const Devices devices = read_devices(loader);
    const auto reports = required(loader.reports());
    const auto places = required(loader.search());
    bool found = false;
    bool ready = false;
    for (const auto& report : reports) {
        if (!is_meant(report, id)) {
            continue;
        }
        if (found) {
            fmt::print("\n");
        }
        found = true;
        ready = ready || report.state == HAL_STATE_READY;
        print_chain(report, places, devices.rows);
    }
    if (!found) {
        return print_unknown(loader, id, reports);
    }
    for (const auto& variable : required(loader.variables())) {
        if (variable.use != HAL_VARIABLE_UNSET) {
            print_field("variable", fmt::format("{}={} ({})", variable.name, variable.value, use_name(variable.use)));
        }
    }
    return ready ? exit_ok : exit_refused;
}

}  // namespace hal::tool

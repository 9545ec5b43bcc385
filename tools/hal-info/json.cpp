#include <nlohmann/json.hpp>

#include "info.hpp"

namespace hal::tool {

// Keys stay in the order of writing.
using Json = nlohmann::ordered_json;

static Json optional_json(const std::optional<uint64_t>& value) {
    return value ? Json(*value) : Json(nullptr);
}

static Json to_json(const DeviceRow& row, size_t index) {
    return {{"index", index},
            {"backend", row.backend},
            {"ordinal", row.ordinal},
            {"name", row.name},
            {"type", row.type},
            {"kind", row.kind},
            {"software", row.software},
            {"vendor", row.vendor},
            {"pci", row.pci},
            {"uuid", row.uuid},
            {"total_memory_bytes", optional_json(row.total_bytes)},
            {"free_memory_bytes", optional_json(row.free_bytes)}};
}

static Json to_json(const hal_backend_report& report) {
    return {{"id", report.id},
            {"name", report.name},
            {"vendor", report.vendor},
            {"version", report.version},
            {"state", hal_state_name(report.state)},
            {"status", hal_status_name(report.status)},
            {"code", report.code},
            {"cause", report.cause},
            {"next_step", report.next_step},
            {"manifest", report.manifest},
            {"library", report.library},
            {"rank", report.rank},
            {"device_count", report.device_count < 0 ? Json(nullptr) : Json(report.device_count)}};
}

static Json to_json(const hal_search_place& place) {
    return {{"path", place.path},
            {"origin", place.origin},
            {"rank", place.rank},
            {"used", place.used != 0},
            {"note", place.note}};
}

static Json to_json(const hal_variable& variable) {
    return {
        {"name", variable.name}, {"value", variable.value}, {"use", use_name(variable.use)}, {"note", variable.note}};
}

template <class T>
static Json list_json(const std::vector<T>& items) {
    Json list = Json::array();
    for (const auto& item : items) {
        list.push_back(to_json(item));
    }
    return list;
}

int print_json(Loader& loader) {
    const Devices devices = read_devices(loader);
    Json all = {{"schema_version", "1.0"},
                {"abi", fmt::format("{}.{}", HAL_ABI_MAJOR, HAL_ABI_MINOR)},
                {"status", hal_status_name(devices.status.code())},
                {"text", devices.status.text()}};
    Json& rows = all["devices"] = Json::array();
    for (const auto& row : devices.rows) {
        rows.push_back(to_json(row, rows.size()));
    }
    all["backends"] = list_json(required(loader.reports()));
    all["search"] = list_json(required(loader.search()));
    all["variables"] = list_json(required(loader.variables()));
    // Whatever is not UTF-8 becomes U+FFFD instead of an exception.
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
    return devices.rows.empty() ? exit_no_device : exit_ok;
}

}  // namespace hal::tool

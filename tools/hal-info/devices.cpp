#include <array>
#include <string_view>

#include "info.hpp"
#include "log.hpp"

namespace hal::tool {

// Of a vendor's string entry: safe for a terminal, empty if the device does not tell.
static std::string text_of(const Result<std::string>& text) {
    return text.ok() ? loader::printable(*text) : std::string();
}

template <size_t Size>
static std::string text_of(const char (&field)[Size]) {
    const std::string_view text(field, Size);
    return loader::printable(text.substr(0, text.find('\0')));
}

static std::string uuid_text(const uint8_t (&uuid)[16]) {
    std::string text;
    bool known = false;
    for (size_t place = 0; place < 16; ++place) {
        const bool dash = place == 4 || place == 6 || place == 8 || place == 10;
        text += fmt::format("{}{:02x}", dash ? "-" : "", uuid[place]);
        known = known || uuid[place] != 0;
    }
    return known ? text : std::string();
}

static std::string kind_text(uint32_t kind) {
    constexpr std::array<std::string_view, 7> names{"unknown", "cpu", "gpu", "npu", "fpga", "dsp", "other"};
    static_assert(HAL_KIND_CPU == 1 && HAL_KIND_OTHER == 6);
    return std::string(kind < names.size() ? names[kind] : names[0]);
}

static DeviceRow read_device(const Device& device) {
    DeviceRow row;
    row.backend = device.backend_id();
    row.ordinal = device.ordinal();
    row.name = text_of(device.name());
    row.type = text_of(device.type());
    row.kind = kind_text(0);
    if (const auto properties = device.properties()) {
        row.kind = kind_text(properties->kind);
        row.vendor = text_of(properties->vendor);
        row.pci = text_of(properties->pci);
        row.uuid = uuid_text(properties->uuid);
        row.software = (properties->flags & HAL_DEVICE_SOFTWARE) != 0;
        row.total_bytes = properties->total_memory_bytes;
    }
    if (const auto stats = device.memory_stats()) {
        row.total_bytes = stats->total_bytes;
        row.free_bytes = stats->free_bytes;
    }
    return row;
}

Devices read_devices(Loader& loader) {
    Devices found;
    auto devices = loader.devices();
    if (!devices.ok()) {
        found.status = std::move(devices).status();
        return found;
    }
    for (const auto& device : *devices) {
        found.rows.push_back(read_device(device));
    }
    return found;
}

}  // namespace hal::tool

#include "identity.hpp"

#include <array>

namespace hal::conformance {
namespace {

// What a text entry answers; empty if it is absent or refuses. Whether it may is for the cases.
template <class TextSlot>
std::string text_of(const TextSlot& slot, hal_dev dev) {
    std::array<char, 256> buffer{};
    uint64_t size = 0;
    return slot && slot(dev, buffer.data(), buffer.size(), &size) == HAL_OK ? std::string(buffer.data())
                                                                            : std::string();
}

template <class VersionSlot>
std::string version_of(const VersionSlot& slot, hal_dev dev) {
    hal_version version{};
    if (!slot || slot(dev, &version) != HAL_OK) {
        return {};
    }
    return std::to_string(version.major) + "." + std::to_string(version.minor) + "." + std::to_string(version.patch);
}

std::string capability_of(const Api& api, hal_dev dev) {
    hal_compute_capability capability{};
    capability.header.size = sizeof capability;
    if (!api.get_compute_capability || api.get_compute_capability(dev, &capability) != HAL_OK) {
        return {};
    }
    capability.arch[sizeof capability.arch - 1] = 0;
    return std::to_string(capability.major) + "." + std::to_string(capability.minor) + " " + capability.arch;
}

std::string text(const char* value) {
    return value == nullptr ? "" : value;
}

}  // namespace

Identity identify(const Backend& backend, int32_t device_count) {
    const hal_backend_descriptor& descriptor = backend.descriptor();
    Identity identity;
    identity.name = text(descriptor.name);
    identity.vendor = text(descriptor.vendor);
    identity.version = text(descriptor.version);
    identity.build = text(descriptor.build);
    identity.abi_version = std::to_string(HAL_VERSION_MAJOR_OF(descriptor.abi_version)) + "." +
                           std::to_string(HAL_VERSION_MINOR_OF(descriptor.abi_version));
    for (const TableInfo& table : tables) {
        if (const auto* header = descriptor.get_table(backend.instance(), table.id_major())) {
            identity.table_bytes[std::string(table.name)] = header->size;
        }
    }
    const Api& api = backend.api();
    for (hal_dev dev = 0; dev < device_count; ++dev) {
        identity.devices.push_back({text_of(api.get_device_name, dev), text_of(api.get_device_type, dev),
                                    version_of(api.get_driver_version, dev), version_of(api.get_runtime_version, dev),
                                    capability_of(api, dev)});
    }
    return identity;
}

}  // namespace hal::conformance

// Table 101: properties and clock; both work before initialize.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "device.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::cpu {
namespace {

// What tells this host from others, across reboots where the system has such an id.
std::string host_id() {
    std::string id;
    if (std::ifstream file("/etc/machine-id"); std::getline(file, id) && !id.empty()) {
        return id;
    }
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    return name;
}

// FNV-1a; the id has to differ, not to resist anybody.
uint64_t hash(std::string_view text, uint64_t seed) {
    uint64_t value = 0xcbf2'9ce4'8422'2325 ^ seed;
    for (const char c : text) {
        value = (value ^ static_cast<uint8_t>(c)) * 0x0000'0100'0000'01b3;
    }
    return value;
}

// The same for a host and ordinal each time. Version 8 of RFC 9562: ours to fill.
void write_uuid(int32_t ordinal, uint8_t (&uuid)[16]) {
    const std::string name = "cpu.ref/" + host_id() + "/" + std::to_string(ordinal);
    const uint64_t halves[2] = {hash(name, 0), hash(name, 0x9e37'79b9'7f4a'7c15)};
    std::memcpy(uuid, halves, sizeof halves);
    uuid[6] = static_cast<uint8_t>((uuid[6] & 0x0f) | 0x80);
    uuid[8] = static_cast<uint8_t>((uuid[8] & 0x3f) | 0x80);
}

hal_status get_device_properties(Opened& opened, hal_dev device, hal_device_properties* out_properties) {
    const Device& owner = opened.device(device);
    Instance& instance = instance_of(opened);
    hal_device_properties properties{};
    properties.kind = HAL_KIND_CPU;
    properties.flags = HAL_DEVICE_HOST_ACCESSIBLE | HAL_DEVICE_CONCURRENT_STREAMS | HAL_DEVICE_SOFTWARE;
    properties.numa_node = -1;  // a virtual device runs on all of them
    properties.alignment_bytes = 256;
    properties.total_memory_bytes = instance.options().memory_bytes;
    write_uuid(owner.ordinal, properties.uuid);
    std::strncpy(properties.vendor, instance.cpu().vendor.c_str(), sizeof properties.vendor - 1);
    return sdk::write_struct(properties, out_properties, "out_properties");
}

hal_status device_time(Opened& opened, hal_dev device, uint64_t* out_time_ns) {
    static_cast<void>(opened.device(device));
    sdk::require(out_time_ns, "out_time_ns") = now_ns();
    return HAL_OK;
}

}  // namespace

const hal_device_ext_table device_ext_table = {
    .header = sdk::header<hal_device_ext_table>(HAL_TABLE_device_ext),
    .get_device_properties = sdk::slot<get_device_properties>,
    .device_time = sdk::slot<device_time>,
};

}  // namespace hal::cpu

// Mutants of what the loader sees: descriptor, tables, entry.
#include <atomic>
#include <cstring>

#include "overlay.hpp"

namespace hal::mutants {

void abi_wrong_major(Plugin& plugin) {
    plugin.descriptor.abi_version += 1U << 16U;
}

void abi_descriptor_short(Plugin& plugin) {
    plugin.descriptor.size = 24;
}

void abi_other_name(Plugin& plugin) {
    plugin.descriptor.name = "cpu";
}

void abi_null_string(Plugin& plugin) {
    plugin.descriptor.vendor = nullptr;
}

void abi_no_destroy(Plugin& plugin) {
    plugin.descriptor.destroy = nullptr;
}

void abi_size_0(Plugin& plugin) {
    plugin.stream.header.size = 0;
}

void abi_size_13(Plugin& plugin) {
    plugin.stream.header.size = 13;
}

void abi_size_huge(Plugin& plugin) {
    plugin.stream.header.size = 1U << 20U;
}

void abi_id_mismatch(Plugin& plugin) {
    plugin.stream.header.id_major = HAL_TABLE_event;
}

void abi_major_2_table(Plugin& plugin) {
    plugin.stream.header.id_major = HAL_TABLE_ID(3, 2);
}

namespace {
const hal_table_header* (*get_real_table)(hal_instance*, uint32_t) = nullptr;
}

// Answers for majors that do not exist.
void abi_any_major(Plugin& plugin) {
    get_real_table = plugin.descriptor.get_table;
    plugin.descriptor.get_table = [](hal_instance* instance, uint32_t id_major) {
        return get_real_table(instance, (id_major & 0xFFFF0000U) | 1U);
    };
}

// Another copy each time: the pointer is not constant.
void abi_table_moves(Plugin& plugin) {
    get_real_table = plugin.descriptor.get_table;
    plugin.descriptor.get_table = [](hal_instance* instance, uint32_t id_major) {
        static hal_event_table copies[2];
        static std::atomic<unsigned> calls{0};
        const hal_table_header* real = get_real_table(instance, id_major);
        if (id_major != HAL_TABLE_event || real == nullptr) {
            return real;
        }
        hal_event_table& copy = copies[calls++ % 2];
        std::memcpy(&copy, real, sizeof copy);
        return static_cast<const hal_table_header*>(&copy.header);
    };
}

void abi_entry_moves(Plugin& plugin) {
    plugin.entry_moves = true;
}

void abi_create_refuses(Plugin& plugin) {
    plugin.descriptor.create = [](const hal_host* host, hal_instance**) {
        host->set_error(host, HAL_ERROR_DRIVER, 35, "the driver is too old for this runtime");
        return HAL_ERROR_DRIVER;
    };
}

void abi_create_without_instance(Plugin& plugin) {
    plugin.descriptor.create = [](const hal_host*, hal_instance** out) {
        *out = nullptr;
        return HAL_OK;
    };
}

void abi_required_absent(Plugin& plugin) {
    plugin.event.record_event = nullptr;
}

void abi_half_a_pair(Plugin& plugin) {
    plugin.stream.destroy_stream = nullptr;
}

// What the manifest claims is refused by the slot.
void abi_claimed_but_unsupported(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev, hal_dptr, hal_dptr, uint64_t) {
        return refuse(self, HAL_ERROR_UNSUPPORTED, "memory_copy_d2d is not offered");
    };
}

}  // namespace hal::mutants

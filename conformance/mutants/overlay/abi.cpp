// Mutants of what the loader sees: descriptor, tables, entry.
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>

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

// ---- Hosts of other versions ----

void abi_newer_host_refused(Plugin& plugin) {
    plugin.entry_answers = [](const hal_host* host) {
        if (host->size <= sizeof(hal_host) && host->abi_version <= HAL_ABI_VERSION) {
            return true;
        }
        host->set_error(host, HAL_ERROR_UNSUPPORTED, 0, "the host is newer than this plug-in");
        return false;
    };
}

void abi_older_host_unsaid(Plugin& plugin) {
    plugin.entry_answers = [](const hal_host* host) { return host->size >= sizeof(hal_host); };
}

void abi_other_major_unsaid(Plugin& plugin) {
    plugin.entry_answers = [](const hal_host* host) {
        return HAL_VERSION_MAJOR_OF(host->abi_version) == HAL_ABI_MAJOR;
    };
}

// ---- Instances and processes ----

void abi_build_of_process(Plugin& plugin) {
    static const std::string build = "built for process " + std::to_string(getpid());
    plugin.descriptor.build = build.c_str();
}

// Who asks a second time for a table gets one of half a pointer more.
void abi_table_grows(Plugin& plugin) {
    get_real_table = plugin.descriptor.get_table;
    plugin.descriptor.get_table = [](hal_instance* instance, uint32_t id_major) {
        static hal_event_table longer;
        static std::atomic<hal_instance*> asked{nullptr};
        const hal_table_header* real = get_real_table(instance, id_major);
        if (id_major != HAL_TABLE_event || real == nullptr || asked.exchange(instance) != instance) {
            return real;
        }
        std::memcpy(&longer, real, sizeof longer);
        longer.header.size += sizeof(void*) / 2;
        return static_cast<const hal_table_header*>(&longer.header);
    };
}

// The functions of a second instance are others, as where a table is filled anew for each.
void abi_functions_of_instance(Plugin& plugin) {
    get_real_table = plugin.descriptor.get_table;
    plugin.descriptor.get_table = [](hal_instance* instance, uint32_t id_major) {
        static hal_event_table second;
        static std::atomic<hal_instance*> first{nullptr};
        const hal_table_header* real = get_real_table(instance, id_major);
        hal_instance* nobody = nullptr;
        if (first.compare_exchange_strong(nobody, instance) || nobody == instance || id_major != HAL_TABLE_event ||
            real == nullptr) {
            return real;
        }
        std::memcpy(&second, real, sizeof second);
        second.create_event = [](hal_instance* self, hal_dev device, const hal_event_desc* desc, hal_event* out) {
            return base.event.create_event(self, device, desc, out);
        };
        return static_cast<const hal_table_header*>(&second.header);
    };
}

namespace {
hal_status (*create_real)(const hal_host*, hal_instance**) = nullptr;
void (*destroy_real)(hal_instance*) = nullptr;
std::atomic<int> instances{0};
}  // namespace

// One instance at a time: who comes while another one lives is refused.
void abi_second_instance_refused(Plugin& plugin) {
    create_real = plugin.descriptor.create;
    destroy_real = plugin.descriptor.destroy;
    plugin.descriptor.create = [](const hal_host* host, hal_instance** out) {
        if (instances++ == 0) {
            return create_real(host, out);
        }
        --instances;
        host->set_error(host, HAL_ERROR_BUSY, 0, "another host has opened the device");
        return HAL_ERROR_BUSY;
    };
    plugin.descriptor.destroy = [](hal_instance* instance) {
        destroy_real(instance);
        --instances;
    };
}

}  // namespace hal::mutants

#include "backend.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "identity.hpp"
#include "numbers/element.hpp"

namespace hal::conformance {
namespace {

// A table as the plug-in made it; nullptr if it is none of ours.
template <class Table>
const Table* checked(const hal_table_header* header, uint32_t id_major, const char* name) {
    if (header == nullptr) {
        return nullptr;
    }
    const bool sane = header->id_major == id_major && header->size >= sizeof(hal_table_header) &&
                      header->size <= HAL_TABLE_MAX_BYTES && header->size % sizeof(void*) == 0;
    if (!sane) {
        throw LoadError(std::string("table ") + name + " has size " + std::to_string(header->size) + " and id " +
                        std::to_string(header->id_major) + "; expected whole pointers up to " +
                        std::to_string(HAL_TABLE_MAX_BYTES) + " and id " + std::to_string(id_major));
    }
    return reinterpret_cast<const Table*>(header);
}

// A slot beyond the size that the plug-in gives belongs to a newer contract than the plug-in's.
template <class Table, class Function>
Function slot_of(const Table* table, Function Table::*member) {
    if (table == nullptr) {
        return nullptr;
    }
    const auto offset = reinterpret_cast<const char*>(&(table->*member)) - reinterpret_cast<const char*>(table);
    return static_cast<uint32_t>(offset) + sizeof(Function) <= table->header.size ? table->*member : nullptr;
}

std::string text_or(const std::string& text, const char* fallback) {
    return text.empty() ? fallback : text;
}

void check_descriptor(const hal_backend_descriptor* descriptor) {
    if (descriptor == nullptr) {
        throw LoadError("the entry returned NULL: " + text_or(Host::last_error().text, "no error text was set"));
    }
    if (descriptor->size < sizeof(hal_backend_descriptor) ||
        HAL_VERSION_MAJOR_OF(descriptor->abi_version) != HAL_ABI_MAJOR) {
        throw LoadError("the descriptor has size " + std::to_string(descriptor->size) + " and ABI major " +
                        std::to_string(HAL_VERSION_MAJOR_OF(descriptor->abi_version)) + "; expected at least " +
                        std::to_string(sizeof(hal_backend_descriptor)) + " and " + std::to_string(HAL_ABI_MAJOR));
    }
    if (descriptor->create == nullptr || descriptor->destroy == nullptr || descriptor->get_table == nullptr) {
        throw LoadError("the descriptor lacks create, destroy or get_table");
    }
}

}  // namespace

Backend::Backend(const Target& target) : host_(std::make_unique<Host>(target.options)) {
    descriptor_ = target.entry(host_->table());
    check_descriptor(descriptor_);
    if (const hal_status status = descriptor_->create(host_->table(), &instance_); status != HAL_OK) {
        throw LoadError("create returned " + to_string(status) + ": " +
                        text_or(Host::last_error().text, "no error text was set"));
    }
    if (instance_ == nullptr) {
        throw LoadError("create returned HAL_OK without an instance");
    }
    read_tables();
}

Backend::~Backend() {
    destroy();
}

void Backend::destroy() {
    if (instance_ != nullptr) {
        descriptor_->destroy(instance_);
        instance_ = nullptr;
    }
}

void Backend::read_tables() {
#define HAL_TABLE(table, id, clause, effect) \
    const auto* table##_raw =                \
        checked<hal_##table##_table>(descriptor_->get_table(instance_, HAL_TABLE_##table), HAL_TABLE_##table, #table);
#include "hal/tables/all.def"
#define HAL_FN(table, entry, need, clause, since, effect, params)            \
    api_.entry.function = slot_of(table##_raw, &hal_##table##_table::entry); \
    api_.entry.self = instance_;
#include "hal/tables/all.def"
}

hal_status Backend::initialize() const {
    return api_.initialize ? api_.initialize() : HAL_OK;
}
hal_status Backend::finalize() const {
    return api_.finalize ? api_.finalize() : HAL_OK;
}

namespace {

// Of every device: a claim counts only if all of them make it.
uint32_t common_flags(const Api& api, int32_t device_count) {
    if (!api.get_device_properties || device_count <= 0) {
        return 0;
    }
    uint32_t common = ~0U;
    for (hal_dev dev = 0; dev < device_count; ++dev) {
        hal_device_properties properties{};
        properties.header.size = sizeof properties;
        common &= api.get_device_properties(dev, &properties) == HAL_OK ? properties.flags : 0;
    }
    return common;
}

std::set<std::string, std::less<>> registered_ops(const Api& api) {
    std::set<std::string, std::less<>> ops;
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    if (api.register_kernel && api.register_kernel(&kernels, &count) == HAL_OK) {
        for (uint64_t i = 0; i < count; ++i) {
            const std::string name = kernels[i]->op;
            ops.insert(name);
            for (const Element& type : elements()) {
                if (kernels[i]->dtype == type.dtype || kernels[i]->dtype == HAL_DTYPE_ANY) {
                    ops.insert(name + "/" + std::string(type.name));
                }
            }
        }
    }
    return ops;
}

}  // namespace

namespace {

uint64_t host_memory_mib() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    uint64_t kib = 0;
    for (std::string rest; file >> key; std::getline(file, rest)) {
        if (key == "MemAvailable:" && file >> kib) {
            return kib / 1024;
        }
    }
    return 0;
}

// A device may use the host's memory, so that large cases need both.
uint32_t free_memory_mib(const Api& api, int32_t device_count) {
    uint64_t least = api.device_memory_stats ? host_memory_mib() : 0;
    for (hal_dev dev = 0; api.device_memory_stats && dev < device_count; ++dev) {
        hal_memory_stats stats{};
        stats.header.size = sizeof stats;
        least = api.device_memory_stats(dev, &stats) == HAL_OK ? std::min(least, stats.free_bytes >> 20U) : 0;
    }
    return static_cast<uint32_t>(std::min<uint64_t>(least, UINT32_MAX));
}

}  // namespace

Introduction introduce(const Target& target) {
    const Backend backend(target);
    Introduction result;
    Facts& facts = result.facts;
    const Api& api = backend.api();
#define HAL_FN(table, entry, need, clause, since, effect, params) \
    facts.present[static_cast<size_t>(E::entry)] = static_cast<bool>(api.entry);
#include "hal/tables/all.def"
    facts.backend_flags = backend.descriptor().flags;
    facts.behaviour = target.behaviour;
    facts.routes = target.routes;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (target.entries ? target.entries->contains(entries[i].name) : facts.present[i]) {
            facts.claimed.emplace(entries[i].name);
        }
    }
    if (const hal_status status = backend.initialize(); status != HAL_OK) {
        throw LoadError("initialize returned " + to_string(status) + ": " + Host::last_error().text);
    }
    if (api.get_device_count && api.get_device_count(&facts.device_count) != HAL_OK) {
        throw LoadError("get_device_count fails: " + Host::last_error().text);
    }
    facts.device_flags = common_flags(api, facts.device_count);
    facts.memory_mib = free_memory_mib(api, facts.device_count);
    facts.ops = registered_ops(api);
    result.identity = identify(backend, facts.device_count);
    (void)backend.finalize();
    return result;
}

namespace {

// What a gate without callbacks is made of (load.hpp). Waiting for it takes synchronize_device, which is mandatory.
bool can_load(const Facts& facts) {
    const auto& list = memory_io().list;
    return std::all_of(list.begin(), list.end(), [&](const Need& need) { return !unmet(need, facts); }) &&
           facts.has(E::synchronize_device) && !facts.behaviour.contains("inline_copies") &&
           (facts.has(E::async_memory_copy_d2d) || facts.has(E::async_memory_copy_h2d));
}

}  // namespace

std::optional<std::string> unmet(const Need& need, const Facts& facts) {
    switch (need.kind) {
        case Need::Kind::entry:
            if (!facts.present[need.value]) {
                return "needs " + std::string(entries[need.value].name);
            }
            return {};
        case Need::Kind::offered:
            if (!facts.present[need.value] && !facts.claimed.contains(entries[need.value].name)) {
                return "needs " + std::string(entries[need.value].name);
            }
            return {};
        case Need::Kind::memory:
            if (facts.memory_mib < need.value) {
                return "needs " + std::to_string(need.value) + " MiB of free memory, there are " +
                       std::to_string(facts.memory_mib);
            }
            return {};
        case Need::Kind::devices:
            if (facts.device_count < static_cast<int32_t>(need.value)) {
                return "needs " + std::to_string(need.value) + " devices, there are " +
                       std::to_string(facts.device_count);
            }
            return {};
        case Need::Kind::device_flag:
            if ((facts.device_flags & need.value) == 0) {
                return "needs " + std::string(need.text);
            }
            return {};
        case Need::Kind::op:
            if (!facts.ops.contains(need.text)) {
                return "needs a kernel for " + std::string(need.text);
            }
            return {};
        case Need::Kind::no_backend_flag:
            if ((facts.backend_flags & need.value) != 0) {
                return "the plug-in " + std::string(need.text);
            }
            return {};
        case Need::Kind::any_work:
            for (const Value& source : work_sources().values) {
                bool all = true;
                for (const Need& part : source.needs) {
                    all = all && !unmet(part, facts);
                }
                if (all) {
                    return {};
                }
            }
            return "needs a source of asynchronous work";
        case Need::Kind::gate:
            if (!facts.has(E::stream_add_callback) && !can_load(facts)) {
                return "needs a gate: stream_add_callback, or asynchronous copies of memory that can be written and "
                       "read";
            }
            return {};
        case Need::Kind::ranks:
            if (facts.most_ranks < need.value) {
                return "needs place for " + std::to_string(need.value) + " ranks, there is place for " +
                       std::to_string(facts.most_ranks);
            }
            return {};
        case Need::Kind::claim:
            if (!facts.behaviour.contains(need.text)) {
                return "the manifest does not claim " + std::string(need.text);
            }
            return {};
        case Need::Kind::no_claim:
            if (facts.behaviour.contains(need.text)) {
                return "the manifest claims " + std::string(need.text);
            }
            return {};
    }
    throw HarnessError("need of unknown kind");
}

std::string to_string(hal_status status) {
    switch (status) {
#define HAL_STATUS(name, value, text) \
    case name:                        \
        return #name;
#include "hal/status.def"
    }
    return "status " + std::to_string(static_cast<int32_t>(status));
}

}  // namespace hal::conformance

// The exported symbol: opens the base once, copies its tables, applies the mutant that the options name.
#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "hal/reflect.hpp"
#include "hal/sdk.hpp"
#include "overlay.hpp"

namespace hal::mutants {

Plugin base;

namespace {

Plugin mutated;

struct Named {
    std::string_view name;
    void (*apply)(Plugin&);
};
constexpr Named mutants[] = {
#define HAL_MUTANT(word, fault, row, what, cls, verdict, killers, message) {#word "." #fault, &word##_##fault},
#define HAL_ODDITY(word, fault, what, options) {#word "." #fault, &word##_##fault},
#include "mutants.def"
};

// By instance, because a test may open a second one whose host lives shorter.
std::mutex hosts_mutex;
std::map<hal_instance*, const hal_host*>& hosts() {
    static std::map<hal_instance*, const hal_host*> map;
    return map;
}

hal_status create(const hal_host* host, hal_instance** out_instance) {
    const hal_status status = base.descriptor.create(host, out_instance);
    if (status == HAL_OK) {
        const std::lock_guard lock(hosts_mutex);
        hosts()[*out_instance] = host;
    }
    return status;
}

void destroy(hal_instance* instance) {
    base.descriptor.destroy(instance);
    const std::lock_guard lock(hosts_mutex);
    hosts().erase(instance);
}

const hal_table_header* get_table(hal_instance*, uint32_t id_major) {
    switch (id_major) {
#define HAL_TABLE(table, id, clause, effect) \
    case HAL_TABLE_##table:                  \
        return base.table.header.size == 0 ? nullptr : &mutated.table.header;
#include "hal/tables/all.def"
        default:
            return nullptr;
    }
}

std::filesystem::path own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) {
        throw sdk::Error(HAL_ERROR_INTERNAL, "the overlay does not know where it was loaded from");
    }
    return std::filesystem::path(info.dli_fname).parent_path();
}

hal_backend_entry_fn open_base(const hal_host* host) {
    const auto path = own_folder() / sdk::option(host, "base", HAL_MUTANT_BASE);
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const symbol = library == nullptr ? nullptr : dlsym(library, HAL_BACKEND_ENTRY_SYMBOL);
    if (symbol == nullptr) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND, std::string("option base of the mutants: ") + dlerror());
    }
    return reinterpret_cast<hal_backend_entry_fn>(symbol);
}

// The tables do not depend on the instance, but only an instance can be asked for them.
void copy_tables(const hal_host* host) {
    hal_instance* instance = nullptr;
    if (base.descriptor.create(host, &instance) != HAL_OK) {
        throw sdk::Error(HAL_ERROR_INTERNAL, "the base of the mutants makes no instance");
    }
#define HAL_TABLE(table, id, clause, effect)                                                      \
    if (const hal_table_header* found = base.descriptor.get_table(instance, HAL_TABLE_##table)) { \
        std::memcpy(&base.table, found, std::min<size_t>(found->size, sizeof base.table));        \
        base.table.header.size = sizeof base.table;                                               \
    }
#include "hal/tables/all.def"
    base.descriptor.destroy(instance);
}

void apply(const std::string& name) {
    if (name.empty() || apply_generated(name, mutated)) {
        return;
    }
    for (const Named& mutant : mutants) {
        if (mutant.name == name) {
            mutant.apply(mutated);
            return;
        }
    }
    throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "option mutant: there is no mutant \"" + name + "\"; see mutants.def");
}

// hide=entry,entry: a smaller back end.
void hide(const std::string& list) {
    for (size_t begin = 0; begin < list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        const std::string name = list.substr(begin, end - begin);
        bool known = false;
#define HAL_FN(table, entry, need, clause, since, effect, params) \
    if (name == #entry) {                                         \
        mutated.table.entry = nullptr;                            \
        known = true;                                             \
    }
#include "hal/tables/all.def"
        if (!known) {
            throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "option hide: there is no entry \"" + name + "\"");
        }
        begin = end + 1;
    }
}

void prepare(const hal_host* host) {
    const hal_backend_descriptor* descriptor = open_base(host)(host);
    if (descriptor == nullptr) {
        throw sdk::Error(HAL_ERROR_INTERNAL, "the entry of the mutants' base returned NULL");
    }
    base.descriptor = *descriptor;
    copy_tables(host);
    mutated = base;
    mutated.descriptor.create = &create;
    mutated.descriptor.destroy = &destroy;
    mutated.descriptor.get_table = &get_table;
    apply(sdk::option(host, "mutant", ""));
    hide(sdk::option(host, "hide", ""));
}

}  // namespace

const hal_host* host_of(hal_instance* self) {
    const std::lock_guard lock(hosts_mutex);
    const auto found = hosts().find(self);
    return found == hosts().end() ? nullptr : found->second;
}

hal_status refuse(hal_instance* self, hal_status status, const std::string& text) {
    if (const hal_host* host = host_of(self)) {
        host->set_error(host, status, 0, text.c_str());
    }
    return status;
}

}  // namespace hal::mutants

const hal_backend_descriptor* hal_backend_entry_v1(const hal_host* host) {
    using namespace hal::mutants;
    static std::mutex mutex;
    static bool ready = false;
    const std::lock_guard lock(mutex);
    const hal_status status = ready ? HAL_OK : hal::sdk::guard(host, [&] {
        prepare(host);
        ready = true;
        return HAL_OK;
    });
    if (status != HAL_OK || (mutated.entry_answers != nullptr && !mutated.entry_answers(host))) {
        return nullptr;
    }
    if (!mutated.entry_moves) {
        return &mutated.descriptor;
    }
    static hal_backend_descriptor copies[2];
    static unsigned calls = 0;
    return &(copies[calls++ % 2] = mutated.descriptor);
}

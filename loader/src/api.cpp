// The functions of hal/loader.h: arguments checked, exceptions turned into a status and the thread's last error.
#include "export.hpp"

// The rest in the usual order; export.hpp comes before anything that includes loader.h.
#include <fmt/format.h>

#include "guard.hpp"
#include "loader.hpp"

namespace {

using hal::loader::guard;
using hal::loader::head_of;
using hal::loader::Loader;
using hal::sdk::Error;
using hal::sdk::require;

Loader& checked(hal_loader* loader) {
    auto& self = *reinterpret_cast<Loader*>(&require(loader, "loader"));
    self.refuse_fork();
    return self;
}

template <class T>
std::span<const T> array(const T* first, uint64_t count, const char* name) {
    if (count > 0) {
        require(first, name);
    }
    return {first, count};
}

const char* element(const char* text, const char* name, size_t index) {
    if (text == nullptr) {
        throw Error(HAL_ERROR_INVALID_ARGUMENT, fmt::format("{}[{}] is NULL", name, index));
    }
    return text;
}

hal::loader::Settings read_settings(const hal_loader_desc* raw) {
    const hal_loader_desc desc = hal::sdk::read_struct(raw, "desc");
    hal::loader::Settings settings;
    settings.log = desc.log;
    settings.log_user_data = desc.log_user_data;
    settings.flags = desc.flags;
    constexpr uint32_t known = HAL_LOADER_NO_ENVIRONMENT | HAL_LOADER_STRICT | HAL_LOADER_NO_EMULATION;
    if ((desc.flags & ~known) != 0) {
        throw Error(HAL_ERROR_INVALID_ARGUMENT, fmt::format("desc.flags has unknown bits {:#x}", desc.flags & ~known));
    }
    for (const char* path : array(desc.manifest_paths, desc.manifest_path_count, "desc.manifest_paths")) {
        settings.manifest_paths.emplace_back(element(path, "desc.manifest_paths", settings.manifest_paths.size()));
    }
    for (const hal_backend_entry_fn entry : array(desc.entries, desc.entry_count, "desc.entries")) {
        if (entry == nullptr) {
            throw Error(HAL_ERROR_INVALID_ARGUMENT, fmt::format("desc.entries[{}] is NULL", settings.entries.size()));
        }
        settings.entries.push_back(entry);
    }
    for (const hal_option& option : array(desc.options, desc.option_count, "desc.options")) {
        const size_t i = settings.options.size();
        settings.options.push_back({element(option.backend, "desc.options.backend", i),
                                    element(option.key, "desc.options.key", i),
                                    element(option.value, "desc.options.value", i)});
    }
    return settings;
}

// Writes up to capacity elements; INCOMPLETE when there are more.
template <class From, class To, class Convert>
hal_status write_array(const std::vector<From>& all, To* out, uint64_t capacity, uint64_t* out_count,
                       Convert&& convert) {
    require(out_count, "out_count");
    array(out, capacity, "the array");
    const size_t count = std::min<uint64_t>(capacity, all.size());
    std::transform(all.begin(), all.begin() + static_cast<ptrdiff_t>(count), out, convert);
    *out_count = all.size();
    return count < all.size() ? HAL_INCOMPLETE : HAL_OK;
}

hal_status closed(const hal_backend* backend) noexcept {
    return hal::loader::set_error(HAL_ERROR_SHUTDOWN, head_of(backend).id,
                                  "the backend's loader has been closed; drop the pointer");
}

// The cold part of hal_kernel_find: bad arguments and misses.
[[gnu::cold, gnu::noinline]] hal_status refuse_find(const hal_backend* backend, const hal_kernel_key* key,
                                                    const hal_kernel** out_kernel) noexcept {
    return guard([&]() -> hal_status {
        require(backend, "backend");
        require(key, "key");
        require(out_kernel, "out_kernel");
        if (key->size < sizeof(hal_kernel_key)) {
            throw Error(HAL_ERROR_INVALID_ARGUMENT,
                        fmt::format("key->size is {}; set it to sizeof(hal_kernel_key), {}", key->size, sizeof *key));
        }
        require(key->op, "key->op");
        if (key->signature_count > 0) {
            require(key->signature, "key->signature");
        }
        const hal::loader::Registry* registry = head_of(backend).registry.load();
        if (registry == nullptr) {
            return closed(backend);
        }
        return hal::loader::set_error(HAL_ERROR_NOT_FOUND, head_of(backend).id, registry->explain_miss(*key));
    });
}

}  // namespace

hal_status hal_loader_open(const hal_loader_desc* desc, hal_loader** out_loader) {
    return guard([&] {
        require(out_loader, "out_loader");
        auto loader = std::make_unique<Loader>(read_settings(desc));
        loader->enforce();
        *out_loader = reinterpret_cast<hal_loader*>(loader.release());
        return HAL_OK;
    });
}

hal_status hal_loader_close(hal_loader* loader) {
    return guard([&] {
        if (loader != nullptr) {
            Loader& self = checked(loader);
            self.refuse_reentry("hal_loader_close");
            self.wait_for_openings();
            delete &self;
        }
        return HAL_OK;
    });
}

hal_status hal_loader_rescan(hal_loader* loader) {
    return guard([&] {
        Loader& self = checked(loader);
        self.refuse_reentry("hal_loader_rescan");
        self.rescan();
        return HAL_OK;
    });
}

hal_status hal_loader_report_count(hal_loader* loader, uint64_t* out_count) {
    return guard([&] {
        require(out_count, "out_count") = checked(loader).report_count();
        return HAL_OK;
    });
}

hal_status hal_loader_report(hal_loader* loader, uint64_t index, hal_backend_report* out_report) {
    return guard([&] { return hal::sdk::write_struct(checked(loader).report(index), out_report, "out_report"); });
}

hal_status hal_loader_search_count(hal_loader* loader, uint64_t* out_count) {
    return guard([&] {
        require(out_count, "out_count") = checked(loader).place_count();
        return HAL_OK;
    });
}

hal_status hal_loader_search(hal_loader* loader, uint64_t index, hal_search_place* out_place) {
    return guard([&] { return hal::sdk::write_struct(checked(loader).place(index), out_place, "out_place"); });
}

hal_status hal_loader_variable_count(hal_loader* loader, uint64_t* out_count) {
    return guard([&] {
        require(out_count, "out_count") = checked(loader).environment().report().size();
        return HAL_OK;
    });
}

hal_status hal_loader_variable(hal_loader* loader, uint64_t index, hal_variable* out_variable) {
    return guard([&] {
        const auto& report = checked(loader).environment().report();
        if (index >= report.size()) {
            throw Error(HAL_ERROR_INVALID_ARGUMENT, fmt::format("index is {}, there are {}", index, report.size()));
        }
        const auto& variable = report[index];
        return hal::sdk::write_struct(hal_variable{.name = variable.name.c_str(),
                                                   .value = variable.value.c_str(),
                                                   .note = variable.note.c_str(),
                                                   .use = variable.use},
                                      out_variable, "out_variable");
    });
}

hal_status hal_backend_open(hal_loader* loader, const char* id, const hal_backend** out_backend) {
    return guard(
        [&] {
            require(id, "id");
            require(out_backend, "out_backend");
            *out_backend = checked(loader).open(id);
            return HAL_OK;
        },
        id);
}

hal_status hal_loader_devices(hal_loader* loader, hal_device_ref* devices, uint64_t capacity, uint64_t* out_count) {
    return guard([&] {
        require(out_count, "out_count");
        array(devices, capacity, "devices");
        Loader& self = checked(loader);
        self.refuse_reentry("hal_loader_devices");
        return write_array(self.devices(), devices, capacity, out_count, [](const hal::loader::Device& device) {
            return hal_device_ref{device.opened->head(), device.opened->id().c_str(), device.ordinal, 0};
        });
    });
}

hal_status hal_entry_support(const hal_backend* backend, const char* entry, uint32_t* out_support) {
    return guard([&] {
        const auto& head = head_of(&require(backend, "backend"));
        require(entry, "entry");
        require(out_support, "out_support");
        const hal::EntryInfo* info = hal::find_entry(entry);
        if (info == nullptr) {
            throw Error(HAL_ERROR_NOT_FOUND,
                        fmt::format("'{}' is no entry of the tables", hal::loader::printable(entry)));
        }
        const hal::loader::Opened* opened = head.opened.load();
        if (opened == nullptr) {
            return closed(backend);
        }
        *out_support = opened->support(static_cast<size_t>(info - hal::entries.data()));
        return HAL_OK;
    });
}

hal_status hal_kernel_find(const hal_backend* backend, const hal_kernel_key* key, const hal_kernel* after,
                           const hal_kernel** out_kernel) {
    const bool sound = backend != nullptr && key != nullptr && out_kernel != nullptr &&
                       key->size >= sizeof(hal_kernel_key) && key->op != nullptr &&
                       (key->signature != nullptr || key->signature_count == 0);
    const auto* registry = sound ? head_of(backend).registry.load(std::memory_order_acquire) : nullptr;
    const hal_kernel* kernel = registry == nullptr ? nullptr : registry->find(*key, after);
    if (kernel == nullptr) [[unlikely]] {
        return refuse_find(backend, key, out_kernel);
    }
    *out_kernel = kernel;
    return HAL_OK;
}

hal_status hal_kernel_list(const hal_backend* backend, const hal_kernel** kernels, uint64_t capacity,
                           uint64_t* out_count) {
    return guard([&] {
        const auto* registry = head_of(&require(backend, "backend")).registry.load();
        if (registry == nullptr) {
            return closed(backend);
        }
        return write_array(registry->list(), kernels, capacity, out_count, [](const hal_kernel* one) { return one; });
    });
}

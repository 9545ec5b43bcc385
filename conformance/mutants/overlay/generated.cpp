// gen.<op>.<entry>: the same fault for every slot of every table, made from tables/all.def.
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "hal/reflect.hpp"
#include "overlay.hpp"

namespace hal::mutants {
namespace {

// Does parameter i of "(type, name)(type, name)" bear a name that says output?
bool is_output(std::string_view params, size_t index) {
    for (size_t i = 0; i < index; ++i) {
        params.remove_prefix(params.find(')') + 1);
    }
    const std::string_view one = params.substr(0, params.find(')'));
    return one.substr(one.rfind(' ') + 1).starts_with("out_");
}

template <class T>
concept Described = requires(T& value) {
    value.header.size;
};

// Is the last parameter a size? It has the type of an address of the device, so that only the text tells them apart.
bool ends_in_a_size(std::string_view params) {
    return params.substr(params.rfind('(') + 1).starts_with("uint64_t*");
}

// A value that a caller could take for a real one, made without doing anything.
template <class T>
void pretend(T* out) {
    static std::atomic<uintptr_t> next{0x1000};
    if constexpr (Described<T>) {  // all zero, as far as the caller's struct goes
        if (out->header.size > sizeof(hal_header) && out->header.size <= sizeof(T)) {
            std::memset(reinterpret_cast<char*>(out) + sizeof(hal_header), 0, out->header.size - sizeof(hal_header));
        }
    } else if constexpr (std::is_same_v<T, hal_dptr>) {
        *out = plausible_address(uint64_t{1} << 20U);
    } else if constexpr (std::is_same_v<T, void*>) {
        *out = reinterpret_cast<void*>(plausible_address(uint64_t{1} << 20U));
    } else if constexpr (std::is_pointer_v<T> && !std::is_const_v<std::remove_pointer_t<T>>) {
        *out = reinterpret_cast<T>(next.fetch_add(64));
    } else {
        *out = T{};
    }
}

template <class Table, class F>
struct Slot;

template <class Table, class... Args>
struct Slot<Table, hal_status (*)(hal_instance*, Args...)> {
    using Function = hal_status (*)(hal_instance*, Args...);
    static inline Function original = nullptr;
    static inline const EntryInfo* info = nullptr;

    static hal_status noop_ok(hal_instance*, Args...) { return HAL_OK; }
    static hal_status err_always(hal_instance* self, Args...) {
        return refuse(self, HAL_ERROR_INTERNAL, std::string(info->name) + " always fails");
    }
    static hal_status unsupported(hal_instance* self, Args...) {
        return refuse(self, HAL_ERROR_UNSUPPORTED, std::string(info->name) + " is not offered");
    }
    static hal_status crash(hal_instance*, Args...) { std::abort(); }
    static hal_status hang(hal_instance*, Args...) {
        for (;;) {
            pause();
        }
    }
    static hal_status raise(hal_instance*, Args...) { throw std::runtime_error("an exception that leaves the slot"); }

    static hal_status noop_out(hal_instance*, Args... args) {
        size_t index = 0;
        (write(args, index++), ...);
        return HAL_OK;
    }
    // An object of the back end where the entry makes one, else 4 KiB of the host.
    static hal_status leak_1(hal_instance* self, Args... args) {
        const hal_status status = original(self, args...);
        if (status != HAL_OK) {
            return status;
        }
        constexpr size_t last = sizeof...(Args) - 1;
        if constexpr (sizeof...(Args) != 0) {
            using Last = std::tuple_element_t<last, std::tuple<Args...>>;
            if constexpr (std::is_same_v<Last, hal_dptr*> || std::is_same_v<Last, hal_stream*> ||
                          std::is_same_v<Last, hal_event*> || std::is_same_v<Last, void**>) {
                if (!ends_in_a_size(info->params)) {
                    auto all = std::make_tuple(args...);
                    std::remove_pointer_t<Last> kept{};
                    std::get<last>(all) = &kept;
                    (void)std::apply([&](auto... again) { return original(self, again...); }, all);
                    return HAL_OK;
                }
            }
        }
        lose_memory(4096);
        return HAL_OK;
    }

  private:
    template <class T>
    static void write(T value, size_t index) {
        if constexpr (std::is_pointer_v<T>) {
            using Target = std::remove_pointer_t<T>;
            if constexpr (!std::is_const_v<Target> && requires { sizeof(Target); }) {  // opaque objects are no outputs
                if (value != nullptr && is_output(info->params, index)) {
                    pretend(value);
                }
            }
        }
    }
};

template <class S>
typename S::Function choose(std::string_view op) {
    using Named = std::pair<std::string_view, typename S::Function>;
    const std::array<Named, 8> all{{{"noop_ok", S::noop_ok},
                                    {"noop_out", S::noop_out},
                                    {"err_always", S::err_always},
                                    {"unsupported", S::unsupported},
                                    {"crash", S::crash},
                                    {"hang", S::hang},
                                    {"throw", S::raise},
                                    {"leak_1", S::leak_1}}};
    for (const auto& [name, function] : all) {
        if (name == op) {
            return function;
        }
    }
    return nullptr;
}

// A tag of its own for each entry: two entries of one signature must not share the original.
#define HAL_FN(table, entry, need, clause, since, effect, params) struct Tag_##entry;
#include "hal/tables/all.def"

bool replace(std::string_view op, std::string_view name, Plugin& plugin) {
#define HAL_FN(table_name, entry, need, clause, since, effect, params)      \
    if (name == #entry && base.table_name.entry != nullptr) {               \
        using S = Slot<Tag_##entry, decltype(plugin.table_name.entry)>;     \
        S::original = base.table_name.entry;                                \
        S::info = find_entry(#entry);                                       \
        plugin.table_name.entry = op == "absent" ? nullptr : choose<S>(op); \
        return op == "absent" || plugin.table_name.entry != nullptr;        \
    }
#include "hal/tables/all.def"
    return false;
}

}  // namespace

bool apply_generated(std::string_view name, Plugin& plugin) {
    constexpr std::string_view prefix = "gen.";
    const size_t dot = name.find('.', prefix.size());
    return name.starts_with(prefix) && dot != std::string_view::npos &&
           replace(name.substr(prefix.size(), dot - prefix.size()), name.substr(dot + 1), plugin);
}

// Rows 1 of the design's list: every call succeeds and nothing is done.
void null_all(Plugin& plugin) {
#define HAL_FN(table_name, entry, need, clause, since, effect, params)                            \
    if (std::string_view(#table_name) != "device" && std::string_view(#table_name) != "kernel" && \
        std::string_view(#table_name) != "device_ext") {                                          \
        (void)replace("noop_out", #entry, plugin);                                                \
    }
#include "hal/tables/all.def"
    (void)replace("noop_ok", "synchronize_device", plugin);
}

}  // namespace hal::mutants

// All tables of one back end by value, and the generator that gives every slot a function of its exact type.
#pragma once

#include <cstring>

#include "hal/loader.h"
#include "hal/reflect.hpp"

namespace hal::loader {

struct Tables {
#define HAL_TABLE(table, id, clause, effect) hal_##table##_table table{};
#include "hal/tables/all.def"
};

// Where a table type lies in Tables.
template <class Table>
inline constexpr Table Tables::*member_of = nullptr;
#define HAL_TABLE(table, id, clause, effect) \
    template <>                              \
    inline constexpr hal_##table##_table Tables::*member_of<hal_##table##_table> = &Tables::table;
#include "hal/tables/all.def"

// Index into hal::entries; every name is there because both come from the same list.
consteval size_t index_of(std::string_view entry) {
    return static_cast<size_t>(find_entry(entry) - entries.data());
}

// A set in which slot `entry` is Function<index, &table::entry>::call. Function deduces the signature in a
// specialisation for `hal_status (*Table::*Member)(hal_instance*, Args...)`.
template <template <size_t, auto> class Function>
constexpr Tables every_slot() {
    Tables set{};
#define HAL_TABLE(table, id, clause, effect) set.table.header = {sizeof(hal_##table##_table), HAL_TABLE_##table};
#define HAL_FN(table, entry, need, clause, since, effect, params) \
    set.table.entry = &Function<index_of(#entry), &hal_##table##_table::entry>::call;
#include "hal/tables/all.def"
    return set;
}

// ---- Slots by index, for what is the same for every entry ----

inline constexpr auto table_offsets = std::to_array<size_t>({
#define HAL_TABLE(table, id, clause, effect) offsetof(Tables, table),
#include "hal/tables/all.def"
});

constexpr auto place_slots() {
    std::array<size_t, entries.size()> offsets{};
    for (size_t table = 0; table < tables.size(); ++table) {
        for (size_t i = 0; i < tables[table].count; ++i) {
            offsets[tables[table].first + i] = table_offsets[table] + entries[tables[table].first + i].offset;
        }
    }
    return offsets;
}
inline constexpr auto slot_offsets = place_slots();

using AnySlot = void (*)();
inline AnySlot slot(const Tables& set, size_t entry) {
    AnySlot value = nullptr;
    std::memcpy(&value, reinterpret_cast<const char*>(&set) + slot_offsets[entry], sizeof value);
    return value;
}
inline void set_slot(Tables& set, size_t entry, AnySlot value) {
    std::memcpy(reinterpret_cast<char*>(&set) + slot_offsets[entry], &value, sizeof value);
}

// Makes a public head call these tables with this instance.
inline void point_at(hal_backend& head, const Tables& set, hal_instance* instance) {
    head.instance = instance;
#define HAL_TABLE(table, id, clause, effect) head.table = &set.table;
#include "hal/tables/all.def"
}

}  // namespace hal::loader

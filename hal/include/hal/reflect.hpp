// The tables as constexpr data: names, clauses, offsets. For the loader, the tools and the checker; nobody lists entries twice.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "hal/tables.h"

namespace hal {

enum class Need : uint8_t { optional, required };

struct EntryInfo {
    std::string_view table;
    std::string_view name;
    Need need;
    std::string_view clause;
    uint32_t since;         // minor of the table's major
    std::string_view effect;
    std::string_view params;  // as written: "(type, name)(type, name)", empty for none
    uint32_t row;           // 1-based place in its table
    size_t offset;          // of the slot in the table's struct
};

struct TableInfo {
    std::string_view name;
    uint32_t id;     // number of the standard's table; ours begin at 101
    uint32_t major;
    std::string_view clause;
    std::string_view effect;
    size_t size_bytes;
    size_t first;    // index into entries
    size_t count;

    [[nodiscard]] constexpr uint32_t id_major() const { return HAL_TABLE_ID(id, major); }
    [[nodiscard]] constexpr bool standard() const { return id <= 100; }
};

namespace detail {
inline constexpr auto raw_entries = std::to_array<EntryInfo>({
#define HAL_FN(table, entry, need, clause, since, effect, params)                                                      \
    {#table, #entry, Need::need, clause, since, effect, #params, 0, offsetof(hal_##table##_table, entry)},
#include "hal/tables/all.def"
});

inline constexpr auto raw_tables = std::to_array<TableInfo>({
#define HAL_TABLE(table, id, clause, effect) {#table, id, 1, clause, effect, sizeof(hal_##table##_table), 0, 0},
#include "hal/tables/all.def"
});

constexpr auto number_rows() {
    auto entries = raw_entries;
    for (auto& entry : entries) {
        entry.row = static_cast<uint32_t>((entry.offset - sizeof(hal_table_header)) / sizeof(void*)) + 1;
    }
    return entries;
}

constexpr auto place_tables() {
    auto tables = raw_tables;
    size_t next = 0;
    for (auto& table : tables) {
        table.first = next;
        while (next < raw_entries.size() && raw_entries[next].table == table.name) {
            ++next;
        }
        table.count = next - table.first;
    }
    return tables;
}
}  // namespace detail

// Every entry and every table, in the order of tables/all.def.
inline constexpr auto entries = detail::number_rows();
inline constexpr auto tables = detail::place_tables();

[[nodiscard]] constexpr std::span<const EntryInfo> entries_of(const TableInfo& table) {
    return std::span(entries).subspan(table.first, table.count);
}

// nullptr for a name or id that is none.
[[nodiscard]] constexpr const EntryInfo* find_entry(std::string_view name) {
    for (const auto& entry : entries) {
        if (entry.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

[[nodiscard]] constexpr const TableInfo* find_table(std::string_view name) {
    for (const auto& table : tables) {
        if (table.name == name) {
            return &table;
        }
    }
    return nullptr;
}

}  // namespace hal

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "print.hpp"

namespace hal::tool {

// Keys stay in the order of writing.
using Json = nlohmann::ordered_json;

static Json entry_json(const EntryInfo& entry) {
    Json list = Json::array();
    for (const auto& [type, name] : parameters(entry)) {
        list.push_back({{"type", type}, {"name", name}});
    }
    return {{"row", entry.row},       {"name", entry.name},   {"mandatory", entry.need == Need::required},
            {"clause", entry.clause}, {"since", entry.since}, {"effect", entry.effect},
            {"parameters", list}};
}

static Json table_json(const TableInfo& table) {
    Json list = Json::array();
    for (const auto& entry : entries_of(table)) {
        list.push_back(entry_json(entry));
    }
    return {{"id", table.id},
            {"name", table.name},
            {"major", table.major},
            {"standard", table.standard()},
            {"clause", table.clause},
            {"effect", table.effect},
            {"size_bytes", table.size_bytes},
            {"entries", list}};
}

std::string json() {
    const auto [standard, mandatory, own] = totals();
    Json all = {{"schema_version", "1.0"},
                {"abi", fmt::format("{}.{}", HAL_ABI_MAJOR, HAL_ABI_MINOR)},
                {"standard_entries", standard},
                {"mandatory_entries", mandatory},
                {"own_entries", own}};
    Json& list = all["tables"] = Json::array();
    for (const auto& table : tables) {
        list.push_back(table_json(table));
    }
    return all.dump(2) + "\n";
}

}  // namespace hal::tool

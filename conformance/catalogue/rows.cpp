#include "rows.hpp"

#include <array>
#include <utility>

namespace hal::conformance {

std::string_view chinese_name(std::string_view entry) {
    static constexpr auto names = std::to_array<std::pair<std::string_view, std::string_view>>({
#define HAL_ROW(entry, name) {#entry, name},
#include "rows.def"
#undef HAL_ROW
    });
    for (const auto& [key, name] : names) {
        if (key == entry) {
            return name;
        }
    }
    return {};
}

const TableInfo& table_of(const EntryInfo& entry) {
    return *find_table(entry.table);
}

std::string row_name(const EntryInfo& entry) {
    const TableInfo& table = table_of(entry);
    const std::string head = table.standard() ? "T" + std::to_string(table.id) : std::string(table.name);
    return head + "." + std::to_string(entry.row);
}

Bilingual table_title(const TableInfo& table) {
    static constexpr std::array<std::string_view, 11> chinese{
        "",           "设备管理",     "内存管理",     "执行流管理",         "事件管理",
        "算子注册",   "算子注册参数", "图生成与执行", "编译器高层中间表示", "编译器低层中间表示",
        "分布式通信",
    };
    if (table.standard()) {
        return {"Table " + std::to_string(table.id) + ": " + std::string(table.effect),
                "表" + std::to_string(table.id) + "：" + std::string(chinese[table.id])};
    }
    return {"Ours, " + std::string(table.name) + ": " + std::string(table.effect),
            "扩展表 " + std::string(table.name) + "（非标准接口）"};
}

}  // namespace hal::conformance

// Names of the interfaces for readers.
#pragma once

#include <string>
#include <string_view>

#include "hal/reflect.hpp"

namespace hal::conformance {

// A text in both languages of the reports.
struct Bilingual {
    std::string en;
    std::string zh;
};

// Empty if rows.def forgot the entry; the test of the catalogue sees to that.
[[nodiscard]] std::string_view chinese_name(std::string_view entry);

[[nodiscard]] const TableInfo& table_of(const EntryInfo& entry);
// "T2.7", or "memory_ext.3" for a table of ours.
[[nodiscard]] std::string row_name(const EntryInfo& entry);
[[nodiscard]] Bilingual table_title(const TableInfo& table);

}  // namespace hal::conformance

#include "print.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hal::tool {

static_assert(std::all_of(entries.begin(), entries.end(), [](const EntryInfo& entry) { return !entry.clause.empty(); }),
              "every entry carries its clause");

std::vector<Parameter> parameters(const EntryInfo& entry) {
    std::vector<Parameter> found;
    std::string_view rest = entry.params;
    while (!rest.empty()) {
        const size_t end = rest.find(')');
        // A pair that begins on a new line of its .def file has blanks in front.
        const size_t begin = rest.find_first_not_of("( ");
        const std::string_view pair = rest.substr(begin, end - begin);
        const size_t comma = pair.rfind(", ");
        found.push_back({std::string(pair.substr(0, comma)), std::string(pair.substr(comma + 2))});
        rest.remove_prefix(end + 1);
    }
    return found;
}

std::string parameter_list(const EntryInfo& entry) {
    std::string list;
    for (const auto& [type, name] : parameters(entry)) {
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", type, name);
    }
    return list;
}

Totals totals() {
    Totals counted{};
    for (const auto& table : tables) {
        (table.standard() ? counted.standard_entries : counted.own_entries) += table.count;
        for (const auto& entry : entries_of(table)) {
            counted.mandatory_entries += entry.need == Need::required ? 1 : 0;
        }
    }
    return counted;
}

std::string summary() {
    std::string text = fmt::format("{:>5}  {:<13} {:>7} {:>10}  {:<30} {}\n", "table", "name", "entries", "mandatory",
                                   "clause", "subject");
    for (const auto& table : tables) {
        const auto listed = entries_of(table);
        const auto mandatory =
            std::count_if(listed.begin(), listed.end(), [](const auto& entry) { return entry.need == Need::required; });
        text += fmt::format("{:>5}  {:<13} {:>7} {:>10}  {:<30} {}\n", table.id, table.name, table.count, mandatory,
                            table.clause, table.effect);
    }
    const auto [standard, mandatory, own] = totals();
    text += fmt::format("{} standard entries, {} mandatory; {} of our own. Every entry carries its clause.\n", standard,
                        mandatory, own);
    return text;
}

std::string markdown() {
    const auto [standard, mandatory, own] = totals();
    std::string text = fmt::format(
        "# Tables of the HAL\n\n"
        "Printed by `hal-tables --markdown` from `include/hal/tables/*.def`; a test keeps it fresh.\n"
        "M is mandatory, O optional; *since* is the minor of the table's version 1. Every entry takes the instance "
        "first and\n"
        "returns a `hal_status`. Tables up to 10 are those of GB/T 45079-2024, the others are ours.\n\n"
        "{} standard entries, {} mandatory; {} entries of our own.\n",
        standard, mandatory, own);
    for (const auto& table : tables) {
        text += fmt::format(
            "\n## Table {}: {}, {}\n\n| Row | Entry | | Clause | Since | Parameters | Effect |\n"
            "|---|---|---|---|---|---|---|\n",
            table.id, table.name, table.effect);
        for (const auto& entry : entries_of(table)) {
            const std::string list = parameter_list(entry);
            text += fmt::format("| {} | `{}` | {} | {} | {} | {} | {} |\n", entry.row, entry.name,
                                entry.need == Need::required ? "M" : "O", entry.clause, entry.since,
                                list.empty() ? "none" : "`" + list + "`", entry.effect);
        }
    }
    return text;
}

}  // namespace hal::tool

#include <fmt/format.h>

#include "print.hpp"
#include "structs.hpp"

namespace hal::tool {

static std::string lock_table(const TableInfo& table) {
    std::string text = fmt::format("\ntable {}.{} {}\n", table.id, table.major, table.name);
    for (const auto& entry : entries_of(table)) {
        text += fmt::format("table {}.{} row {} {}({})\n", table.id, table.major, entry.row, entry.name,
                            parameter_list(entry));
    }
    return text;
}

// The size of a closed struct stands in its first line, so that a field more changes that line.
static std::string lock_struct(const StructInfo& info) {
    std::string text = info.growth == Growth::open
                           ? fmt::format("\nstruct {} may grow\n", info.name)
                           : fmt::format("\nstruct {} is closed, {} bytes\n", info.name, info.size_bytes);
    for (size_t index = 0; index < info.count; ++index) {
        const auto& field = info.fields[index];
        text += fmt::format("struct {} offset {} {} {} bytes\n", info.name, field.offset, field.name, field.size_bytes);
    }
    return text;
}

std::string lock() {
    std::string text =
        "# The ABI, printed by hal-tables --lock. Lines are appended to their group (table, struct, status, state);\n"
        "# none is ever changed, moved or removed. A break takes a new major of its table.\n";
    for (const auto& table : tables) {
        text += lock_table(table);
    }
    for (const auto& info : structs) {
        text += lock_struct(info);
    }
    text += "\n";
#define HAL_STATUS(name, value, text_) text += fmt::format("status {} {}\n", value, #name);
#include "hal/status.def"
    text += "\n";
#define HAL_STATE(name, value, text_) text += fmt::format("state {} {}\n", value, #name);
#include "hal/state.def"
    return text;
}

}  // namespace hal::tool

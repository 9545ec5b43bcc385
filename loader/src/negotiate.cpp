#include "negotiate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "log.hpp"

namespace hal::loader {

namespace {

constexpr size_t longest_id = 64;
constexpr size_t longest_text = 256;
constexpr const char* tell_vendor = "the library breaks the contract of hal/plugin.h; tell the vendor";

[[noreturn]] void refuse(hal_backend_state state, const char* code, std::string cause, std::string next_step) {
    throw Refusal({state, HAL_ERROR_ABI, code, std::move(cause), std::move(next_step)});
}

[[noreturn]] void refuse_table(std::string cause) {
    refuse(HAL_STATE_TABLE_INVALID, "L033", std::move(cause), tell_vendor);
}

// Reads no further than a text may be long: a plug-in may have forgotten the terminator.
std::string limited(const char* text, size_t most) {
    return text == nullptr ? std::string() : printable({text, strnlen(text, most)}, most);
}

void check_abi(const hal_backend_descriptor& descriptor, std::string_view where) {
    const uint32_t version = descriptor.abi_version;
    if (HAL_VERSION_MAJOR_OF(version) != HAL_ABI_MAJOR) {
        refuse(HAL_STATE_ABI_MISMATCH, "L032",
               fmt::format("{} speaks ABI {}, this loader speaks {}.0 to {}", where, version_text(version),
                           HAL_ABI_MAJOR, version_text(HAL_ABI_VERSION)),
               HAL_VERSION_MAJOR_OF(version) > HAL_ABI_MAJOR ? "install a newer hal"
                                                             : "install a newer version of the backend");
    }
}

// Bytes of a struct of pointers whose first version had `first` bytes.
bool plausible(uint32_t size, size_t first) {
    return size >= first && size <= HAL_TABLE_MAX_BYTES && size % sizeof(void*) == 0;
}

bool mandatory(const TableInfo& table) {
    return table.id_major() == HAL_TABLE_device || table.id_major() == HAL_TABLE_event;
}

void check_header(const hal_table_header& header, const TableInfo& table, std::string_view where) {
    if (!plausible(header.size, sizeof(hal_table_header))) {
        refuse_table(fmt::format("{}: table {} says that it has {} bytes; 8 to {} in whole pointers are possible",
                                 where, table.name, header.size, HAL_TABLE_MAX_BYTES));
    }
    if (header.id_major != table.id_major()) {
        refuse_table(fmt::format("{}: asked for table {} ({}.{}), got {}.{}", where, table.name, table.id, table.major,
                                 header.id_major >> 16, header.id_major & 0xffffu));
    }
}

}  // namespace

std::string version_text(uint32_t version) {
    return fmt::format("{}.{}", HAL_VERSION_MAJOR_OF(version), HAL_VERSION_MINOR_OF(version));
}

std::string reason_since(uint64_t count) {
    return error_count() == count ? "no reason given" : last_error().text;
}

Description describe(hal_backend_entry_fn entry, const hal_host& host, std::string_view where) {
    const uint64_t errors = error_count();
    const hal_backend_descriptor* raw = entry(&host);
    if (raw == nullptr) {
        const bool reason = error_count() != errors;
        throw Refusal({HAL_STATE_INIT_FAILED, reason ? last_error().status : HAL_ERROR_INTERNAL, "L050",
                       fmt::format("{} refused this host: {}", where, reason_since(errors)),
                       "act on the reason that the backend gives; it may need another version of hal"});
    }
    // The first two words are common to every ABI; nothing behind them is read before both are right.
    if (raw->size < 2 * sizeof(uint32_t)) {
        refuse_table(fmt::format("{}: the descriptor says that it has {} bytes", where, raw->size));
    }
    check_abi(*raw, where);
    if (!plausible(raw->size, sizeof(hal_backend_descriptor))) {
        refuse_table(
            fmt::format("{}: the descriptor says that it has {} bytes; {} to {} in whole pointers are possible", where,
                        raw->size, sizeof(hal_backend_descriptor), HAL_TABLE_MAX_BYTES));
    }
    if (raw->create == nullptr || raw->destroy == nullptr || raw->get_table == nullptr) {
        refuse_table(fmt::format("{}: the descriptor lacks create, destroy or get_table", where));
    }
    const size_t length = raw->name == nullptr ? 0 : strnlen(raw->name, longest_id + 1);
    if (length == 0 || length > longest_id) {
        refuse_table(fmt::format("{}: the descriptor's name must have 1 to {} bytes", where, longest_id));
    }
    return {limited(raw->name, longest_id),
            limited(raw->vendor, longest_text),
            limited(raw->version, longest_text),
            limited(raw->build, longest_text),
            raw->abi_version,
            raw->flags,
            raw->create,
            raw->destroy,
            raw->get_table};
}

Tables read_tables(const Description& description, hal_instance* instance, std::string_view where) {
    Tables set{};
    std::string missing;
    for (size_t i = 0; i < tables.size(); ++i) {
        const TableInfo& table = tables[i];
        const hal_table_header* offered = description.get_table(instance, table.id_major());
        if (offered != nullptr) {
            check_header(*offered, table, where);
            std::memcpy(reinterpret_cast<char*>(&set) + table_offsets[i], offered,
                        std::min<size_t>(offered->size, table.size_bytes));
        } else if (!mandatory(table)) {
            continue;  // the two required entries of the graph table bind only who takes the graph route
        }
        for (size_t entry = table.first; entry < table.first + table.count; ++entry) {
            if (entries[entry].need == Need::required && slot(set, entry) == nullptr) {
                missing += fmt::format("{}{}.{}", missing.empty() ? "" : ", ", table.name, entries[entry].name);
            }
        }
    }
    if (!missing.empty()) {
        refuse_table(fmt::format("{} lacks mandatory functions: {}", where, missing));
    }
    return set;
}

}  // namespace hal::loader

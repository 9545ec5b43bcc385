// Reads what a plug-in says of itself: its descriptor and its tables. Trusts no size, no pointer that may be NULL, no
// text.
#pragma once

#include <string>
#include <string_view>

#include "problem.hpp"
#include "tables.hpp"

namespace hal::loader {

// hal_backend_descriptor, copied and checked; the texts are printable.
struct Description {
    std::string name;
    std::string vendor;
    std::string version;
    std::string build;
    uint32_t abi_version = 0;
    uint64_t flags = 0;
    hal_status (*create)(const hal_host*, hal_instance**) = nullptr;
    void (*destroy)(hal_instance*) = nullptr;
    const hal_table_header* (*get_table)(hal_instance*, uint32_t) = nullptr;

    [[nodiscard]] bool has(uint64_t flag) const { return (flags & flag) != 0; }
};

// Calls the entry. `where` is the library, for messages. Throws Refusal (L032, L033, L050).
Description describe(hal_backend_entry_fn entry, const hal_host& host, std::string_view where);

// Copies the known prefix of every table that the plug-in offers; what it does not have is NULL. Throws Refusal (L033).
Tables read_tables(const Description& description, hal_instance* instance, std::string_view where);

// The text that the plug-in set during a call, or "no reason given"; `count` is error_count() from before the call.
std::string reason_since(uint64_t count);

// "1.2"
std::string version_text(uint32_t version);

}  // namespace hal::loader

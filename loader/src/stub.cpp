#include "stub.hpp"

#include <fmt/format.h>

#include "error.hpp"
#include "head.hpp"
#include "opened.hpp"

namespace hal::loader {

namespace {

// Built into a fixed buffer: an entry that is absent is still absent when memory is out.
template <class... Args>
hal_status explain(hal_status status, std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
    char text[1024];
    const auto end = fmt::format_to_n(text, sizeof text, format, std::forward<Args>(args)...);
    return set_error(status, id, {text, std::min(end.size, sizeof text)});
}

[[gnu::cold, gnu::noinline]] hal_status absent(const hal_instance* self, size_t index) noexcept {
    const EntryInfo& entry = entries[index];
    const bool standard = find_table(entry.table)->standard();
    const Opened* opened = find_opened(self);
    return explain(HAL_ERROR_UNSUPPORTED, opened == nullptr ? std::string_view() : opened->id(),
                   "{} does not implement {}.{} ({}{}, row {}, {}: {}); ask hal_entry_support before calling",
                   opened == nullptr ? "the backend" : opened->description(), entry.table, entry.name,
                   standard ? "GB/T 45079-2024 " : "", entry.clause, entry.row,
                   entry.need == Need::required ? "required" : "optional", entry.effect);
}

[[gnu::cold, gnu::noinline]] hal_status shut_down(const hal_instance* self, size_t index) noexcept {
    const auto* head = reinterpret_cast<const Head*>(self);
    return explain(HAL_ERROR_SHUTDOWN, head->id,
                   "{}.{} was called on backend '{}' after its loader was closed; drop the pointer",
                   entries[index].table, entries[index].name, head->id);
}

template <size_t Index, auto Member>
struct Absent;
template <size_t Index, class Table, class... Args, hal_status (*Table::*Member)(hal_instance*, Args...)>
struct Absent<Index, Member> {
    static hal_status call(hal_instance* self, Args...) noexcept { return absent(self, Index); }
};

template <size_t Index, auto Member>
struct ShutDown;
template <size_t Index, class Table, class... Args, hal_status (*Table::*Member)(hal_instance*, Args...)>
struct ShutDown<Index, Member> {
    static hal_status call(hal_instance* self, Args...) noexcept { return shut_down(self, Index); }
};

}  // namespace

constinit const Tables absent_tables = every_slot<Absent>();
constinit const Tables shutdown_tables = every_slot<ShutDown>();

}  // namespace hal::loader

// Presence: the rows that GB/T 45079-2024 makes mandatory are there, a manifest claims what is there, and what can be
// made can be released.
#include <deque>

#include "harness/test.hpp"

namespace hal::conformance {
namespace {

// As any instance of the plug-in has it.
bool in_table(const Backend& backend, const EntryInfo& entry) {
    const TableInfo& table = *find_table(entry.table);
    const hal_table_header* header = backend.descriptor().get_table(backend.instance(), table.id_major());
    if (header == nullptr || header->size < entry.offset + sizeof(void*)) {
        return false;
    }
    const void* slot = nullptr;
    std::memcpy(&slot, reinterpret_cast<const char*>(header) + entry.offset, sizeof slot);
    return slot != nullptr;
}

void check_present(Test& t) {
    const EntryInfo& entry = *t.entry();
    const bool present = t.facts.present[static_cast<size_t>(&entry - entries.data())];
    const std::string name(entry.name);
    if (mandatory(entry)) {
        t.check(present, "the mandatory entry " + name + " is in the plug-in's table");
    }
    if (t.facts.claimed.contains(entry.name)) {
        t.check(present, "the entry " + name + ", which the manifest claims, is in the plug-in's table");
    } else {
        t.quality(!present, "the entry " + name + " is in the table although the manifest does not claim it");
    }
    // An entry is there or not, in every instance and at any time.
    const auto other = t.another();
    t.eq(present, in_table(*other, entry), name + " in the table of another instance");
    t.ok(other->initialize());
    t.eq(present, in_table(*other, entry), name + " in that table after initialize");
    t.ok(other->finalize());
}

// 45079.T<table>.<entry>.sig.present for every row of tables 1 to 10.
const bool rows_registered = [] {
    static std::deque<std::string> texts;
    const auto kept = [&](std::string text) { return std::string_view(texts.emplace_back(std::move(text))); };
    for (const TableInfo& table : tables) {
        for (const EntryInfo& entry : table.standard() ? entries_of(table) : std::span<const EntryInfo>()) {
            const std::string number = "T" + std::to_string(table.id);
            const bool required = mandatory(entry);
            Case one;
            one.id = kept("45079." + number + "." + std::string(entry.name) + ".sig.present");
            one.file = __FILE__;
            one.line = __LINE__;
            one.body = &check_present;
            one.clauses = {kept("45079/" + number + "." + std::to_string(entry.row))};
            one.authority = required ? authority::S : authority::A;
            if (!required) {
                one.needs = {offered(static_cast<E>(&entry - entries.data()))};
            }
            all_cases().push_back(std::move(one));
        }
    }
    return true;
}();

// The case needs the first of the pair and looks for the second.
#define PAIRED(id, clause, first, second)                               \
    HAL_CASE(id, clauses{clause}, authority::A, needs{E::first})        \
    (Test & t) {                                                        \
        t.check(t.facts.has(E::second), #first " comes with " #second); \
    }
// Of one table of the standard, both ways.
#define ROWS(table, row, first, other_row, second)                                            \
    PAIRED("45079.T" #table "." #first ".sig.pair", "45079/T" #table "." #row, first, second) \
    PAIRED("45079.T" #table "." #second ".sig.pair", "45079/T" #table "." #other_row, second, first)

ROWS(1, 11, initialize, 12, finalize)
ROWS(1, 13, init_device, 14, deinit_device)
ROWS(2, 1, device_memory_allocate, 2, device_memory_deallocate)
ROWS(2, 3, host_memory_allocate, 4, host_memory_deallocate)
ROWS(2, 5, unified_memory_allocate, 6, unified_memory_deallocate)
ROWS(3, 1, create_stream, 2, destroy_stream)
ROWS(4, 1, create_event, 2, destroy_event)
ROWS(7, 1, graph_engine_initialize, 2, graph_engine_finalize)
ROWS(7, 3, graph_engine_generate, 4, graph_engine_execute)
ROWS(7, 5, device_allocate, 6, device_deallocate)
ROWS(10, 1, xccl_get_unique_id, 2, xccl_get_unique_id_size)
ROWS(10, 3, xccl_comm_init_rank, 4, xccl_destroy_comm)

PAIRED("hal.memory_ext.host_memory_register.sig.pair", "45079/T2.3", host_memory_register, host_memory_unregister)
PAIRED("hal.memory_ext.peer_access_enable.sig.pair", "45079/T2.10", peer_access_enable, peer_access_disable)
PAIRED("hal.memory_ext.memory_ipc_import.sig.pair", "45079/T2.1", memory_ipc_import, memory_ipc_close)
PAIRED("hal.event_ext.event_ipc_export.sig.pair", "45079/T4.1", event_ipc_export, event_ipc_import)

}  // namespace
}  // namespace hal::conformance

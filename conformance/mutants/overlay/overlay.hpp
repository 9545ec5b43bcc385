// A plug-in that is wrong on demand: it opens the CPU back end, copies its tables and lets one mutant replace slots of
// the copy. What is not replaced is the base's own slot, called with the base's own instance, so that no checker can
// tell the two apart.
#pragma once

#include <string>
#include <string_view>

#include "hal/plugin.h"

namespace hal::mutants {

struct Tables {
#define HAL_TABLE(table, id, clause, effect) hal_##table##_table table;
#include "hal/tables/all.def"
};

// What is handed out. A table that the base lacks has an entry size of 0 and stays absent.
struct Plugin : Tables {
    hal_backend_descriptor descriptor;
    bool entry_moves;                             // the entry returns another copy of the descriptor each time
    bool (*entry_answers)(const hal_host* host);  // false: the entry returns NULL; absent: it answers every host
};

// The base's tables, for mutants to call. Complete before the first mutant is made, constant afterwards.
extern Plugin base;

// Mutants: each replaces slots of the copy. Declared and named in mutants.def alone.
#define HAL_MUTANT(word, fault, row, what, cls, verdict, killers, message) void word##_##fault(Plugin& plugin);
#define HAL_ODDITY(word, fault, what, options) void word##_##fault(Plugin& plugin);
#include "mutants.def"

// gen.<op>.<entry>: false if there is no such operator or entry.
[[nodiscard]] bool apply_generated(std::string_view name, Plugin& plugin);

// ---- For mutants ----

// Returns the status after setting a text for it, as a back end does.
hal_status refuse(hal_instance* self, hal_status status, const std::string& text);
// The host table that the instance was made with.
[[nodiscard]] const hal_host* host_of(hal_instance* self);
// Keeps a stream busy for about 20 ms, so that what is enqueued behind it comes late.
void delay(hal_instance* self, hal_dev device, hal_stream stream);
[[nodiscard]] int32_t device_count(hal_instance* self);
// Waits for the stream's work, whoever else waits.
void drain(hal_instance* self, hal_dev device, hal_stream stream);
// A stream of the base that nobody else knows. A mutant that uses it calls with_hidden_streams, so that finalize does
// not find them alive.
[[nodiscard]] hal_stream hidden_stream(hal_instance* self, hal_dev device);
void with_hidden_streams(Plugin& plugin);
// Memory of the host that is never given back, in a way that no compiler leaves out.
void lose_memory(size_t size);
// An address that looks like a block of this size and can be read and written, though nobody made it.
[[nodiscard]] hal_dptr plausible_address(uint64_t size_bytes);

}  // namespace hal::mutants

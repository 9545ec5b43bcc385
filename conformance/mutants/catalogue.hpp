// mutants.def, generated.def and idle.def as data, for the selftest. The overlay does not need this: it has the
// functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hal/reflect.hpp"

namespace hal::conformance {

// What a killer must say of its mutant: a verdict by its name, or not_loaded where the checker does not get so far.
inline constexpr std::string_view not_loaded = "NOT_LOADED";

struct Mutant {
    std::string_view name;  // word.fault
    std::string_view row;   // the entry that is wrong, or a topic
    std::string_view what;
    std::string_view cls;
    std::string_view verdict;
    std::string_view killers;  // ids or globs of ids, parted by blanks
    std::string_view message;  // part of what the killer finds; '|' parts alternatives
    std::string_view library;  // "" for the overlay, else a plug-in of its own in static/
    bool separate;             // the base's memory is one that the host cannot reach
};
[[nodiscard]] std::span<const Mutant> all_mutants();

// Odd and legal: no case may accuse it.
struct Oddity {
    std::string_view name;
    std::string_view what;
    std::string_view options;  // key=value of the back end, parted by blanks
};
[[nodiscard]] std::span<const Oddity> all_oddities();

// gen.<op>.<entry> exists for each of these and each entry that the base offers.
struct Operator {
    std::string_view name;
    std::string_view what;
    bool first_only;  // one killer is enough to know, the rest would only cost time
};
[[nodiscard]] std::span<const Operator> all_operators();

// Why a generated mutant is legal, "" if it is not.
[[nodiscard]] std::string_view why_legal(std::string_view op, const EntryInfo& entry);

// A case that catches nothing, and why it is there.
struct IdleCase {
    std::string_view id;
    std::string_view why;
};
[[nodiscard]] std::span<const IdleCase> all_idle();
// "" if the case must catch something.
[[nodiscard]] std::string_view why_idle(std::string_view id);

// What lies between the separators, without what is empty.
[[nodiscard]] std::vector<std::string_view> parts(std::string_view text, char separator);

}  // namespace hal::conformance

#include "catalogue.hpp"

#include <algorithm>
#include <array>

#include "hal/reflect.hpp"

namespace hal::conformance {
namespace {

constexpr auto mutants = std::to_array<Mutant>({
#define HAL_MUTANT(word, fault, row, what, cls, verdict, killers, message) \
    {#word "." #fault, #row, what, #cls, #verdict, killers, message, "", false},
#define HAL_SEPARATE_MUTANT(word, fault, row, what, cls, verdict, killers, message) \
    {#word "." #fault, #row, what, #cls, #verdict, killers, message, "", true},
#define HAL_LIBRARY_MUTANT(library, what, cls, verdict, killers, message) \
    {"library." #library, "library", what, #cls, #verdict, killers, message, #library, false},
#include "mutants.def"
});

// What kills for any reason proves nothing.
static_assert(std::none_of(mutants.begin(), mutants.end(),
                           [](const Mutant& one) { return one.killers.empty() || one.message.empty(); }));

constexpr auto oddities = std::to_array<Oddity>({
#define HAL_ODDITY(word, fault, what, options) {#word "." #fault, what, options},
#include "mutants.def"
});

constexpr auto operators = std::to_array<Operator>({
#define HAL_OPERATOR(name, what, first_only) {#name, what, first_only},
#include "generated.def"
});

constexpr std::string_view any_optional = "optional";

struct Legal {
    std::string_view op, entry, why;
};
// The first line is for every optional entry.
constexpr auto legal = std::to_array<Legal>({
    {"absent", any_optional, "an optional entry may be absent"},
#define HAL_LEGAL(op, entry, why) {#op, #entry, why},
#include "generated.def"
});

constexpr auto idle = std::to_array<IdleCase>({
#define HAL_IDLE(id, why) {id, why},
#include "idle.def"
});

}  // namespace

std::span<const Mutant> all_mutants() {
    return mutants;
}
std::span<const Oddity> all_oddities() {
    return oddities;
}
std::span<const Operator> all_operators() {
    return operators;
}

std::string_view why_legal(std::string_view op, const EntryInfo& entry) {
    const auto found = std::find_if(legal.begin(), legal.end(), [&](const Legal& one) {
        return one.op == op && (one.entry == entry.name || (one.entry == any_optional && entry.need == Need::optional));
    });
    return found == legal.end() ? std::string_view() : found->why;
}

std::span<const IdleCase> all_idle() {
    return idle;
}

std::string_view why_idle(std::string_view id) {
    const auto found = std::find_if(idle.begin(), idle.end(), [&](const IdleCase& one) { return one.id == id; });
    return found == idle.end() ? std::string_view() : found->why;
}

std::vector<std::string_view> parts(std::string_view text, char separator) {
    std::vector<std::string_view> result;
    while (!text.empty()) {
        const size_t end = std::min(text.find(separator), text.size());
        if (end != 0) {
            result.push_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

}  // namespace hal::conformance

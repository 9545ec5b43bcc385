// Everything that a report says, computed from the log of a run and the catalogue that is compiled in. Pure: the same
// log gives the same model, which is how `verify` finds what was edited.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "catalogue/profiles.hpp"
#include "engine/events.hpp"
#include "power.hpp"
#include "waivers.hpp"

namespace hal::conformance {

struct Catalogue {
    std::vector<Instance> instances;  // sorted by id
    std::string hash;

    [[nodiscard]] const Instance* find(std::string_view id) const;
    [[nodiscard]] std::vector<std::string> ids() const;
};
[[nodiscard]] Catalogue compiled_in();

// The row that a case belongs to. Figures ("perf.call.get_device") belong to none: they judge nothing.
[[nodiscard]] const EntryInfo* row_of(std::string_view id);
[[nodiscard]] bool is_figure(std::string_view id);

struct Counts {
    std::array<uint64_t, verdict_count> of{};

    void add(Verdict verdict) { ++of[static_cast<size_t>(verdict)]; }
    [[nodiscard]] uint64_t operator[](Verdict verdict) const { return of[static_cast<size_t>(verdict)]; }
    [[nodiscard]] uint64_t total() const;
    [[nodiscard]] uint64_t bad() const;
};

struct TestResult {
    std::string id;
    Bilingual title;
    std::vector<std::string> clauses;
    enum authority authority = authority::A;
    enum cls cls = cls::fast;
    const EntryInfo* entry = nullptr;  // the row it belongs to; nullptr for a rule over several
    Judgement judgement;
    std::string waived_by;
    uint64_t seed = 0;
    uint64_t ms = 0;
    std::vector<std::vector<Attempt>> attempts;
    size_t shown = 0;  // the group of attempts that gave the verdict
    std::string reproduce;

    [[nodiscard]] Verdict verdict() const { return judgement.verdict; }
    [[nodiscard]] bool is_bad() const { return bad(judgement.verdict); }
    [[nodiscard]] bool is_waived() const { return !waived_by.empty(); }
    // The last run of that group; nullptr if the case did not run.
    [[nodiscard]] const Attempt* last() const;
};

// Tests that are judged together.
struct Group {
    Verdict verdict = Verdict::not_run;
    std::string reason;   // why it is worse than its tests, or has none
    bool waived = false;  // everything bad in it is
    Counts counts;
    uint64_t applicable = 0;
    uint64_t total = 0;         // of the ids that were to run
    uint64_t left_out = 0;      // by a filter
    std::string authorities;    // of its tests, "SDA"
    std::vector<size_t> tests;  // indices into Model::tests

    [[nodiscard]] std::string text() const;  // "PASS (7 of 11 applicable)"
    // Nothing of it was to run; the headlines say so once.
    [[nodiscard]] bool filtered_out() const { return tests.empty() && left_out != 0; }
};

struct Row : Group {
    const EntryInfo* entry = nullptr;
    bool mandatory = false;  // by the standard
    bool required = false;   // by the profile
    bool claimed = false;
    bool present = false;
};

struct Topic : Group {
    std::string key;  // "45079.X.life"
    Bilingual title;
};

enum class Outcome : uint8_t { conformant, conformant_with_waivers, not_conformant, incomplete };
[[nodiscard]] std::string_view name(Outcome outcome);
[[nodiscard]] Bilingual shown(Outcome outcome);

struct Headline {
    std::string key;  // "standard", "abi" or the name of a profile
    Bilingual title;
    Outcome outcome = Outcome::incomplete;
    std::vector<Bilingual> reasons;
};

struct Claim {
    std::string what;
    Bilingual why;  // it is not shown
};

struct Totals {
    Counts all;
    uint64_t left_out = 0;
    // By authority of the case.
    std::array<Counts, 4> mandatory, optional, profile, general;  // `profile` counts rows of the first two again
};

struct Model {
    BeginEvent begin;
    std::optional<FactsEvent> facts;
    std::optional<EndEvent> end;
    std::vector<TestResult> tests;  // sorted by id
    std::vector<Row> rows;          // in the order of hal::entries
    std::vector<Topic> topics;
    Totals totals;
    Headline standard, abi;
    std::vector<Headline> profiles;  // all of them; "met" is conformant
    std::vector<Claim> claims_not_shown;
    Waivers waivers;
    std::vector<std::string> waiver_faults;
    bool waivers_ok = false;  // --waivers-ok was given: a run with waived failures only is exit 0
    std::optional<Power> power;
    std::vector<int> exit_causes;  // the highest ranking first

    [[nodiscard]] const Headline& profile() const;  // the one that was asked for
    [[nodiscard]] int exit_code() const { return exit_causes.front(); }
    [[nodiscard]] const Facts& known_facts() const;
    // A run of `perf`, which measures and judges nothing.
    [[nodiscard]] bool only_figures() const;
};

// What lies beside the log.
struct Evidence {
    Waivers waivers;
    std::optional<Power> power;
};

// Throws LogError if the log names a profile that there is none.
[[nodiscard]] Model build(const Log& log, const Catalogue& catalogue, const Evidence& evidence = {});

// The verdict of one test from its events, and the group of attempts it comes from.
struct Judged {
    Judgement judgement;
    size_t shown = 0;
};
[[nodiscard]] Judged judged(const Instance* instance, const std::optional<FactsEvent>& facts, const TestEvent& event);

// Which of several exit codes wins: 130, 2, 3, 6, 5, 4, 1, 7, 0.
[[nodiscard]] std::vector<int> ranked(std::vector<int> causes);

}  // namespace hal::conformance

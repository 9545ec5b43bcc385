// Profiles: which rows a plug-in must have to be called fit for a purpose. Compute routes: ways to run a model.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "harness/backend.hpp"
#include "rows.hpp"

namespace hal::conformance {

struct Profile {
    std::string_view name;
    Bilingual title;
    bool route = false;  // wants one complete compute route
    std::vector<const EntryInfo*> rows;
};

[[nodiscard]] const std::vector<Profile>& all_profiles();
// nullptr for a name that is none.
[[nodiscard]] const Profile* find_profile(std::string_view name);
// "full" takes what the plug-in claims.
[[nodiscard]] std::vector<const EntryInfo*> required_rows(const Profile& profile, const Facts& facts);

// Mandatory by the standard for this plug-in: the rows of table 7 bind only who takes the graph route, by a claim of
// the manifest or by offering anything of that table.
[[nodiscard]] bool mandatory(const EntryInfo& entry, const Facts& facts);
[[nodiscard]] bool present(const EntryInfo& entry, const Facts& facts);
[[nodiscard]] bool claimed(const EntryInfo& entry, const Facts& facts);

// GB/T 45079-2024 6.2.2: operators, a graph engine, or a compiler.
struct Route {
    std::string_view name;
    bool claimed = false;
    std::vector<const EntryInfo*> rows;  // that carry it
    std::string missing;                 // empty if the route is complete
};
[[nodiscard]] std::vector<Route> routes(const Facts& facts);

}  // namespace hal::conformance

#include "profiles.hpp"

#include <algorithm>

#include "harness/api.hpp"

namespace hal::conformance {
namespace {

enum class Id : uint8_t {
#define HAL_PROFILE(id, name, en, zh, route) id,
#define HAL_PROFILE_ROW(id, entry)
#define HAL_PROFILE_WITH(id, other)
#include "profiles.def"
#undef HAL_PROFILE
#undef HAL_PROFILE_ROW
#undef HAL_PROFILE_WITH
};

std::vector<Profile> read() {
    std::vector<Profile> all;
    // The lines are read in order, so that what a profile takes from another is already there.
    const auto at = [&](Id id) -> Profile& { return all[static_cast<size_t>(id)]; };
    const auto take = [&](Id id, Id other) { at(id).rows = at(other).rows; };
#define HAL_PROFILE(id, name, en, zh, route) all.push_back({name, {en, zh}, route, {}});
#define HAL_PROFILE_ROW(id, entry) at(Id::id).rows.push_back(&info(E::entry));
#define HAL_PROFILE_WITH(id, other) take(Id::id, Id::other);
#include "profiles.def"
#undef HAL_PROFILE
#undef HAL_PROFILE_ROW
#undef HAL_PROFILE_WITH
    return all;
}

Route route(std::string_view name, std::initializer_list<E> wanted, const Facts& facts) {
    Route result{name, facts.routes.contains(name), {}, {}};
    for (const E entry : wanted) {
        result.rows.push_back(&info(entry));
        if (!facts.has(entry)) {
            result.missing += (result.missing.empty() ? "" : ", ") + std::string(info(entry).name);
        }
    }
    return result;
}

}  // namespace

const std::vector<Profile>& all_profiles() {
    static const std::vector<Profile> all = read();
    return all;
}

const Profile* find_profile(std::string_view name) {
    const auto& all = all_profiles();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Profile& one) { return one.name == name; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<const EntryInfo*> required_rows(const Profile& profile, const Facts& facts) {
    if (profile.name != "full") {
        return profile.rows;
    }
    std::vector<const EntryInfo*> rows;
    for (const EntryInfo& entry : entries) {
        if (claimed(entry, facts) || mandatory(entry, facts)) {
            rows.push_back(&entry);
        }
    }
    return rows;
}

bool present(const EntryInfo& entry, const Facts& facts) {
    return facts.present[static_cast<size_t>(&entry - entries.data())];
}

bool claimed(const EntryInfo& entry, const Facts& facts) {
    return facts.claimed.contains(entry.name);
}

bool mandatory(const EntryInfo& entry, const Facts& facts) {
    if (mandatory(entry) || entry.need != hal::Need::required) {
        return mandatory(entry);
    }
    const auto rows = entries_of(table_of(entry));
    return facts.routes.contains("graph") ||
           std::any_of(rows.begin(), rows.end(), [&](const EntryInfo& row) { return claimed(row, facts); });
}

std::vector<Route> routes(const Facts& facts) {
    std::vector<Route> all{route("op", {E::register_kernel}, facts),
                           route("graph", {E::graph_engine_generate, E::graph_engine_execute}, facts),
                           route("compiler", {E::lower_ir}, facts)};
    if (all[0].missing.empty() && facts.ops.empty()) {
        all[0].missing = "a registered kernel";
    }
    return all;
}

}  // namespace hal::conformance

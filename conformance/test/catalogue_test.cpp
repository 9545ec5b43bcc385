// The real cases: sound registrations, and no entry of tables 1 to 5, 10 and their extensions without norm, err and
// leak.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "catalogue/clauses.hpp"
#include "catalogue/titles.hpp"
#include "harness/case.hpp"

using namespace hal::conformance;

TEST_CASE("no registration has a fault") {
    for (const auto& fault : catalogue_faults(all_cases())) {
        FAIL_CHECK(fault);
    }
    CHECK(all_cases().size() > 300);
}

TEST_CASE("every entry has a norm, an err and a leak case") {
    for (const hal::TableInfo& table : hal::tables) {
        const bool covered = table.id <= 5 || table.id == 10 || (table.id > 100 && table.id <= 104) || table.id == 110;
        for (const hal::EntryInfo& entry : covered ? hal::entries_of(table) : std::span<const hal::EntryInfo>()) {
            const auto has = [&](std::string_view category) {
                const std::string part = "." + std::string(entry.name) + "." + std::string(category) + ".";
                return std::any_of(all_cases().begin(), all_cases().end(),
                                   [&](const Case& one) { return one.id.find(part) != std::string_view::npos; });
            };
            INFO(entry.name);
            // What a wait does is order alone, what a sum does is numbers.
            CHECK((has("norm") || has("order") || has("num")));
            CHECK(has("err"));
            CHECK(has("leak"));
        }
    }
}

TEST_CASE("every title has a case, and both languages") {
    std::set<std::string_view> ids;
    for (const Case& one : all_cases()) {
        ids.insert(one.id);
    }
    std::set<std::string_view> seen;
    for (const Title& title : all_titles()) {
        INFO(title.id);
        CHECK(ids.contains(title.id));
        CHECK(seen.insert(title.id).second);
        CHECK((!title.en.empty() && !title.zh.empty()));
    }
}

TEST_CASE("every case has a title") {
    for (const std::string_view group : {"45079.", "hal.", "46345.", "45280."}) {
        for (const Case& one : all_cases()) {
            if (one.id.starts_with(group)) {
                INFO(one.id);
                CHECK(!title_of(one.id).en.empty());
                CHECK(title_of(std::string(one.id) + "[dev=1]").zh == title_of(one.id).zh);
            }
        }
    }
}

TEST_CASE("a case of a row of the standard cites that row") {
    for (const Case& one : all_cases()) {
        const hal::EntryInfo* entry = entry_of(one.id);
        if (entry == nullptr || !hal::find_table(entry->table)->standard() || one.id.starts_with("hal.")) {
            continue;
        }
        const std::string row =
            "45079/T" + std::to_string(hal::find_table(entry->table)->id) + "." + std::to_string(entry->row);
        INFO(one.id << " and " << row);
        CHECK(std::find(one.clauses.begin(), one.clauses.end(), row) != one.clauses.end());
    }
}

TEST_CASE("every clause that a case cites is known and has a text") {
    for (const auto& fault : clause_faults(all_cases())) {
        FAIL_CHECK(fault);
    }
    Case stranger;
    stranger.id = "45079.T1.set_device.norm.x";
    stranger.clauses = {"45079/T11.1", "45079/8.2", "45079/T1.5"};
    CHECK(clause_faults({stranger}).size() == 2);
}

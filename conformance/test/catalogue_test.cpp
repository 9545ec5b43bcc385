// The real cases: sound registrations, and no entry of tables 1 to 5 and their extensions without norm and err.
#include <catch2/catch.hpp>

#include "harness/case.hpp"

using namespace hal::conformance;

TEST_CASE("no registration has a fault") {
    for (const auto& fault : catalogue_faults(all_cases())) {
        FAIL_CHECK(fault);
    }
    CHECK(all_cases().size() > 300);
}

TEST_CASE("every entry has a norm and an err case") {
    for (const hal::TableInfo& table : hal::tables) {
        const bool covered = table.id <= 5 || (table.id > 100 && table.id <= 104);
        for (const hal::EntryInfo& entry : covered ? hal::entries_of(table) : std::span<const hal::EntryInfo>()) {
            const auto has = [&](std::string_view category) {
                const std::string part = "." + std::string(entry.name) + "." + std::string(category) + ".";
                return std::any_of(all_cases().begin(), all_cases().end(), [&](const Case& one) {
                    return one.id.find(part) != std::string_view::npos;
                });
            };
            INFO(entry.name);
            CHECK((has("norm") || has("order")));  // what a wait does is order alone
            CHECK(has("err"));
        }
    }
}

// The reflection of the tables agrees with the standard and with the structs.
#include "hal/reflect.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>

TEST_CASE("the standard's tables have the standard's numbers of entries", "[reflect]") {
    // GB/T 45079-2024 tables 1-5 and 7-10. Table 6 is the parameter list of table 5's entry.
    const std::map<uint32_t, size_t> expected{{1, 14}, {2, 22}, {3, 6}, {4, 5},  {5, 1},
                                              {7, 6},  {8, 1},  {9, 1}, {10, 18}};
    std::map<uint32_t, size_t> counted;
    for (const auto& table : hal::tables) {
        if (table.standard()) {
            counted[table.id] = table.count;
        }
    }
    CHECK(counted == expected);
}

TEST_CASE("the mandatory entries are the standard's ten", "[reflect]") {
    std::set<std::string_view> mandatory;
    for (const auto& entry : hal::entries) {
        if (entry.need == hal::Need::required) {
            mandatory.insert(entry.name);
        }
    }
    CHECK(mandatory == std::set<std::string_view>{"set_device", "get_device", "synchronize_device", "get_device_count",
                                                  "create_event", "destroy_event", "record_event", "synchronize_event",
                                                  "graph_engine_generate", "graph_engine_execute"});
}

TEST_CASE("every entry has a clause, an effect and a name of its own", "[reflect]") {
    std::set<std::string_view> names;
    for (const auto& entry : hal::entries) {
        INFO(entry.name);
        CHECK(names.insert(entry.name).second);
        CHECK_FALSE(entry.effect.empty());
        const auto* table = hal::find_table(entry.table);
        REQUIRE(table != nullptr);
        const std::string number = "table " + std::to_string(table->id);
        if (table->standard()) {
            CHECK((entry.clause.starts_with("6.2.") && entry.clause.ends_with(number)));
        } else {
            CHECK_FALSE(entry.clause.empty());
        }
        CHECK(hal::find_entry(entry.name) == &entry);
    }
    CHECK(hal::find_entry("alocate") == nullptr);
    CHECK(hal::find_table("devices") == nullptr);
}

TEST_CASE("rows and offsets follow the structs", "[reflect]") {
    size_t total = 0;
    for (const auto& table : hal::tables) {
        uint32_t row = 0;
        for (const auto& entry : hal::entries_of(table)) {
            INFO(entry.name);
            CHECK(entry.table == table.name);
            CHECK(entry.row == ++row);
            CHECK(entry.offset == sizeof(hal_table_header) + (row - 1) * sizeof(void*));
        }
        CHECK(table.size_bytes == sizeof(hal_table_header) + table.count * sizeof(void*));
        total += table.count;
    }
    CHECK(total == hal::entries.size());
    CHECK(hal::find_entry("memory_copy_p2p")->offset == offsetof(hal_memory_table, memory_copy_p2p));
    CHECK(hal::find_table("xccl")->id_major() == HAL_TABLE_xccl);
}

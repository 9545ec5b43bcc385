// Handle tables: what is live is found, everything else is not, whatever its bits.
#include "handles.hpp"

#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "hal/types.h"

namespace hal::shared {
namespace {

struct Object {
    int value = 0;
};
using Table = HandleTable<Object, hal_event, 0x11>;

hal_event add(Table& table, int value) {
    const auto [object, handle] = table.acquire();
    REQUIRE(object != nullptr);
    object->value = value;
    table.publish(handle);
    return handle;
}

hal_event raw(uint64_t bits) {
    return reinterpret_cast<hal_event>(bits);
}

TEST_CASE("a handle finds its object until it is revoked, once") {
    Table table;
    const hal_event handle = add(table, 7);
    REQUIRE(table.find(handle) != nullptr);
    CHECK(table.find(handle)->value == 7);
    CHECK(table.revoke(handle));
    CHECK_FALSE(table.revoke(handle));
    CHECK(table.find(handle) == nullptr);
    table.release(handle);
    const hal_event again = add(table, 8);  // the same slot, another generation
    CHECK(again != handle);
    CHECK(table.find(handle) == nullptr);
    CHECK(table.find(again)->value == 8);
}

TEST_CASE("an acquired slot is not found before it is published, and can be given back") {
    Table table;
    const auto entry = table.acquire();
    CHECK(table.find(entry.handle) == nullptr);
    table.release(entry.handle);
    CHECK(table.acquire().object == entry.object);
}

TEST_CASE("garbage and foreign handles are not found") {
    Table table;
    Table other_instance;
    HandleTable<Object, hal_event, 0x12> other_kind;
    const hal_event handle = add(table, 1);
    const auto bits = reinterpret_cast<uint64_t>(handle);
    CHECK(table.find(nullptr) == nullptr);
    CHECK(table.find(raw(UINT64_MAX)) == nullptr);
    CHECK(table.find(add(other_instance, 2)) == nullptr);
    CHECK(other_kind.find(handle) == nullptr);
    for (int bit = 0; bit < 64; ++bit) {
        CHECK(table.find(raw(bits ^ (uint64_t{1} << bit))) == nullptr);
    }
    std::mt19937_64 random(5);
    for (int i = 0; i < 100'000; ++i) {
        const uint64_t value = random();
        if (value != bits) {
            REQUIRE(table.find(raw(value)) == nullptr);
            // The same with our tag, which goes past the first check.
            REQUIRE(table.find(raw((value & 0x00ff'ffff'ffff'ffff) | (uint64_t{0x11} << 56))) == nullptr);
        }
    }
}

TEST_CASE("the table grows through its chunks and keeps every object where it was") {
    Table table;
    std::set<hal_event> handles;
    std::vector<std::pair<hal_event, Object*>> kept;
    for (int i = 0; i < 70'000; ++i) {
        const hal_event handle = add(table, i);
        handles.insert(handle);
        kept.emplace_back(handle, table.find(handle));
    }
    CHECK(handles.size() == kept.size());
    for (size_t i = 0; i < kept.size(); ++i) {
        REQUIRE(table.find(kept[i].first) == kept[i].second);
        REQUIRE(kept[i].second->value == static_cast<int>(i));
    }
    size_t slots = 0;
    table.for_each_slot([&](Object&) { ++slots; });
    CHECK(slots >= kept.size());
    CHECK(slots < 3 * kept.size());
}

TEST_CASE("threads that add, find and remove do not meet") {
    Table table;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 3'000; ++i) {
                const auto [object, handle] = table.acquire();
                object->value = t * 10'000 + i;
                table.publish(handle);
                wrong += table.find(handle) != object || object->value != t * 10'000 + i;
                wrong += !table.revoke(handle);
                table.release(handle);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
}

}  // namespace
}  // namespace hal::shared

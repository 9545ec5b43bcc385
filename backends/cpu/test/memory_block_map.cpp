// Address look-up and free lists against plain models of them.
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "block_map.hpp"
#include "free_lists.hpp"
#include "recent_blocks.hpp"

namespace hal::cpu {
namespace {

std::optional<uint32_t> model_start_of(const std::set<uint32_t>& starts, uint32_t granule) {
    auto after = starts.upper_bound(granule);
    if (after == starts.begin()) {
        return std::nullopt;
    }
    return *std::prev(after);
}

TEST_CASE("start_of finds the nearest start at or before a granule") {
    constexpr uint64_t granules = uint64_t{1} << 27;  // 32 GiB: every level is used
    BlockMap map(granules);
    std::set<uint32_t> model;
    std::mt19937_64 random(5);
    REQUIRE_FALSE(map.start_of(granules - 1));
    for (int i = 0; i < 20000; ++i) {
        // Dense near some places, sparse elsewhere.
        const auto place =
            static_cast<uint32_t>(i % 3 == 0 ? random() % granules : (random() % 8) * 12345678 + random() % 300);
        if (random() % 3 != 0) {
            model.insert(place);
            map.add_start(place);
        } else if (model.erase(place) != 0) {
            map.remove_start(place);
        }
        const auto probe = static_cast<uint32_t>(i % 2 == 0 ? random() % granules : place + random() % 3);
        REQUIRE(map.start_of(probe) == model_start_of(model, probe));
    }
    for (const uint32_t start : model) {
        map.remove_start(start);
    }
    REQUIRE_FALSE(map.start_of(granules - 1));
}

TEST_CASE("a block survives its packing") {
    BlockMap map(1024);
    const Block block{0xfedcba98, 0xab, BlockState::pending, BlockKind::unified};
    map.put(17, block);
    const Block read = map.get(17);
    REQUIRE(read.granules == block.granules);
    REQUIRE(read.slack_bytes == block.slack_bytes);
    REQUIRE(read.state == block.state);
    REQUIRE(read.kind == block.kind);
    REQUIRE(read.asked_bytes() == uint64_t{0xfedcba98} * 256 - 0xab);
}

TEST_CASE("find returns a block that fits whenever there is one, and a close one") {
    BlockMap map(1 << 20);
    FreeLists lists(map);
    std::map<uint32_t, uint32_t> model;  // start to size
    std::mt19937_64 random(9);
    for (uint32_t turn = 0; turn < 30000; ++turn) {
        const auto wanted = static_cast<uint32_t>(1 + random() % (uint64_t{1} << random() % 31));
        if (random() % 2 == 0) {
            const auto start = static_cast<uint32_t>(random() % (1 << 20));
            if (model.try_emplace(start, wanted).second) {
                map.put(start, {wanted, 0, BlockState::free_clean, BlockKind::device});
                lists.add(start, wanted);
            }
            continue;
        }
        const uint32_t found = lists.find(wanted);
        uint32_t best = 0;
        for (const auto& [start, size] : model) {
            if (size >= wanted && (best == 0 || size < best)) {
                best = size;
            }
        }
        if (best == 0) {
            REQUIRE(found == FreeLists::none);
            continue;
        }
        REQUIRE(model.count(found) == 1);
        REQUIRE(model[found] >= wanted);
        REQUIRE(model[found] <= best + best / 16);
        lists.remove(found, model[found]);
        model.erase(found);
    }
    uint64_t seen = 0;
    lists.for_each_largest_first([&](uint32_t start) {
        REQUIRE(model.count(start) == 1);
        ++seen;
        return true;
    });
    REQUIRE(seen == model.size());
}

TEST_CASE("recent blocks come back by exact size and drain whole") {
    BlockMap map(1 << 16);
    RecentBlocks recent(map);
    for (uint32_t i = 0; i < 100; ++i) {
        const uint32_t granules = 1 + i % 10;
        map.put(i * 20, {granules, 0, BlockState::recent, BlockKind::device});
        REQUIRE(recent.push(i * 20, granules));
    }
    REQUIRE(recent.pop(11) == RecentBlocks::none);
    const uint32_t got = recent.pop(7);
    REQUIRE(map.get(got).granules == 7);
    REQUIRE(recent.pop(7 + 256) == RecentBlocks::none);  // shares the stack of 7
    REQUIRE_FALSE(recent.push(60000, 5000));
    std::set<uint32_t> drained;
    recent.drain([&](uint32_t start) { REQUIRE(drained.insert(start).second); });
    REQUIRE(drained.size() == 99);
    REQUIRE(drained.count(got) == 0);
    REQUIRE(recent.pop(3) == RecentBlocks::none);
}

}  // namespace
}  // namespace hal::cpu

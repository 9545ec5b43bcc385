// Reserved addresses: what is taken is found up to its last piece, what is given back is whole again.
#include "addresses.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "device_memory.hpp"

namespace hal::opencl {
namespace {

constexpr uint64_t kib = 1024;
constexpr uint64_t piece = 64 * kib;

}  // namespace

TEST_CASE("an address finds its block, and a piece of nobody lies behind each") {
    Addresses addresses(64 * piece);
    Block first;
    Block second;
    const uint64_t a = addresses.take(100 * kib, 256);  // two pieces and the one behind
    addresses.assign(a, 100 * kib, &first);
    const uint64_t b = addresses.take(1, 256);
    addresses.assign(b, 1, &second);
    CHECK(b == a + 3 * piece);
    CHECK(addresses.find(a) == &first);
    CHECK(addresses.find(a + 100 * kib) == &first);  // past its end, in its last piece: the block's size tells
    CHECK(addresses.find(a + 2 * piece) == nullptr);
    CHECK(addresses.find(b) == &second);
    CHECK(addresses.find(a - 1) == nullptr);
    CHECK(addresses.find(0) == nullptr);
    CHECK(addresses.find(UINT64_MAX) == nullptr);
    addresses.give_back(a, 100 * kib);
    CHECK(addresses.find(a) == nullptr);
    CHECK(addresses.find(b) == &second);
}

TEST_CASE("what is given back, in whatever order, is one range again") {
    Addresses addresses(65 * piece);
    for (const std::vector<size_t>& order : {std::vector<size_t>{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}}) {
        std::vector<uint64_t> taken;
        for (int i = 0; i < 4; ++i) {
            taken.push_back(addresses.take(15 * piece, 256));
            REQUIRE(taken.back() != 0);
        }
        CHECK(addresses.take(15 * piece, 256) == 0);
        for (const size_t i : order) {
            addresses.give_back(taken[i], 15 * piece);
        }
        const uint64_t whole = addresses.take(64 * piece, 256);
        CHECK(whole != 0);
        addresses.give_back(whole, 64 * piece);
    }
}

TEST_CASE("an alignment beyond a piece costs what it skips, and gives it back") {
    Addresses addresses(200 * piece);
    const uint64_t some = addresses.take(1, 256);
    const uint64_t aligned = addresses.take(3 * piece, 2048 * kib);
    REQUIRE(aligned != 0);
    CHECK(aligned % (2048 * kib) == 0);
    addresses.give_back(aligned, 3 * piece);
    addresses.give_back(some, 1);
    CHECK(addresses.take(199 * piece, 256) != 0);
}

}  // namespace hal::opencl

// Who is where, for ranks that are dealt to hosts in any order.
#include "hosts.hpp"

#include <catch2/catch.hpp>

namespace hal::xccl {
namespace {

std::vector<Introduction> ranks_on(const std::string& hosts) {
    std::vector<Introduction> ranks;
    for (const char host : hosts) {
        ranks.emplace_back().host[0] = host;
    }
    return ranks;
}

TEST_CASE("ranks of a host keep their order, hosts that of their first ranks") {
    const Hosts hosts(ranks_on("babcb"));
    CHECK(hosts.count() == 3);
    CHECK(hosts.rank_count() == 5);
    CHECK(hosts.most_ranks() == 3);
    CHECK(hosts.ranks_of(0) == std::vector<int32_t>{0, 2, 4});
    CHECK(hosts.ranks_of(1) == std::vector<int32_t>{1});
    CHECK(hosts.ranks_of(2) == std::vector<int32_t>{3});
    CHECK(hosts.leader_of(2) == 3);
    CHECK(hosts.local_of(4) == 2);
    CHECK(hosts.host_of(3) == 2);
    CHECK(hosts.first_place(0) == 0);
    CHECK(hosts.first_place(1) == 3);
    CHECK(hosts.first_place(2) == 4);
    const uint64_t places[] = {0, 3, 1, 4, 2};
    for (int32_t rank = 0; rank < 5; ++rank) {
        CHECK(hosts.place_of(rank) == places[rank]);
    }
}

}  // namespace
}  // namespace hal::xccl

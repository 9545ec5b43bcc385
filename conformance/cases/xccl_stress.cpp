// Tables 10 and 110 in traffic: collectives of all kinds, types, sizes and communicators behind one another, and a rank
// that is killed at any moment of it.
#include <algorithm>
#include <memory>
#include <thread>

#include "xccl.hpp"

namespace hal::conformance {
namespace {

// Members of a communicator, in its order; all of these overlap.
struct Team {
    std::vector<int> members;
    hal_comm comm = nullptr;

    [[nodiscard]] int rank_of(int rank) const {
        const auto found = std::find(members.begin(), members.end(), rank);
        return found == members.end() ? -1 : static_cast<int>(found - members.begin());
    }
};

std::vector<Team> make_teams(Test& t) {
    std::vector<int> all;
    for (int rank = 0; rank < t.ranks(); ++rank) {
        all.push_back(rank);
    }
    std::vector<Team> teams{{all}};
    std::reverse(all.begin(), all.end());
    teams.push_back({all});
    if (t.ranks() > 2) {
        teams.push_back({{all.begin() + 1, all.end()}});
        teams.push_back({{all.begin(), all.end() - 1}});
    }
    for (Team& team : teams) {
        team.comm = t.communicator(team.members);
    }
    return teams;
}

constexpr const char* entries_of_traffic[] = {
    "xccl_all_reduce", "xccl_broadcast", "xccl_reduce", "xccl_all_gather", "xccl_reduce_scatter", "xccl_send",
    "xccl_alltoall",   "xccl_alltoallv", "xccl_gather", "xccl_scatter",    "xccl_all_reduce",
};

// Mostly small, now and then large: the ways that data take differ.
uint64_t random_count(uint64_t random) {
    const uint64_t bits = random % 17;
    return (random >> 8U) % ((uint64_t{1} << bits) + 1);
}

// All ranks draw the same, also of what they take no part in.
struct Draw {
    const Collective* collective;
    Team* team;
    Shape shape;
    bool second_stream;
};
Draw draw(Test& t, std::vector<Team>& teams) {
    Draw drawn{};
    drawn.collective = &collective_of(entries_of_traffic[t.random() % std::size(entries_of_traffic)]);
    drawn.team = &teams[t.random() % teams.size()];
    const std::vector<Reduction> offered = reductions(t, HAL_COLL_ALL_REDUCE);
    drawn.shape.reduction = offered[t.random() % offered.size()];
    drawn.shape.count = random_count(t.random());
    drawn.shape.root = static_cast<int>(t.random() % drawn.team->members.size());
    drawn.shape.in_place = t.random() % 3 == 0;
    drawn.shape.offset = t.random() % 3;
    drawn.second_stream = t.random() % 4 == 0;
    if (drawn.collective->reduces &&
        !takes(t, drawn.collective->kind, drawn.shape.reduction.type.dtype, drawn.shape.reduction.op)) {
        drawn.shape.reduction = {element_of(HAL_F32), HAL_REDUCE_SUM};
    }
    return drawn;
}

HAL_CASE("45079.T10.xccl_all_reduce.stress.random_traffic", clauses{"45079/T10.5"}, authority::D,
         needs{comm_io(), E::xccl_all_reduce, E::xccl_broadcast, E::xccl_reduce, E::xccl_all_gather,
               E::xccl_reduce_scatter, E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end,
               E::xccl_alltoall, E::xccl_alltoallv, E::xccl_gather, E::xccl_scatter},
         so_many_ranks({2, 3, 4}), cls::long_)
(Test& t) {
    constexpr int bursts = 125;
    constexpr int burst = 8;
    std::vector<Team> teams = make_teams(t);
    const hal_stream streams[] = {t.stream(t.dev), t.stream(t.dev)};
    for (int i = 0; i < bursts; ++i) {
        const auto in = t.context("burst", static_cast<uint64_t>(i));
        std::vector<std::unique_ptr<Round>> rounds;
        for (int k = 0; k < burst; ++k) {
            const Draw drawn = draw(t, teams);
            const int rank = drawn.team->rank_of(t.rank());
            if (rank < 0 || drawn.team->comm == nullptr) {
                static_cast<void>(t.random());  // as the round of a member draws
                continue;
            }
            rounds.push_back(std::make_unique<Round>(
                t, *drawn.collective, drawn.shape, static_cast<int>(drawn.team->members.size()), rank, Where::here()));
            t.ok(rounds.back()->call(drawn.team->comm, streams[drawn.second_stream ? 1 : 0]), "a collective");
        }
        waited(t, streams[0]);
        waited(t, streams[1]);
        for (const auto& round : rounds) {
            round->expect();
            round->release();
        }
    }
}

// Kills its own process a moment after now, with whatever is under way. The body must say nothing meanwhile.
void die_in(Test& t, std::chrono::microseconds moment) {
    std::thread([&t, moment] {
        const auto end = std::chrono::steady_clock::now() + moment;
        while (std::chrono::steady_clock::now() < end) {
            std::this_thread::yield();
        }
        t.die();
    }).detach();
}

// Any rank, at any moment of any traffic. The others learn it within the limit, and their devices work.
HAL_CASE("45079.T10.xccl_all_reduce.fault.killed_in_traffic", clauses{"45079/T10.5", "hal/9"}, authority::A,
         needs{comm_io(), E::xccl_all_reduce, E::xccl_alltoall}, so_many_ranks({2, 3, 4}), cls::medium)
(Test& t) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    const int victim = static_cast<int>(t.random() % static_cast<uint64_t>(t.ranks()));
    const std::chrono::microseconds moment(t.random() % 20'000);
    const DeviceBuffer& send = t.device(uint64_t{4} << 20U, t.dev);
    const DeviceBuffer& recv = t.device(uint64_t{4} << 20U, t.dev);
    t.rank_barrier();
    if (t.rank() == victim) {
        t.check(comm != nullptr, "dies with a communicator");
        die_in(t, moment);
    }
    hal_status status = HAL_OK;
    const auto end = std::chrono::steady_clock::now() + t.limits.finish;
    while (status == HAL_OK && std::chrono::steady_clock::now() < end) {
        const uint64_t count = random_count(t.random());
        const hal_status called =
            t.random() % 2 == 0
                ? t.api.xccl_all_reduce(send.ptr, recv.ptr, count, HAL_F32, HAL_REDUCE_SUM, comm, stream)
                : t.api.xccl_alltoall(send.ptr, recv.ptr, count, HAL_F32, comm, stream);
        const auto limit = static_cast<uint64_t>(std::chrono::nanoseconds(2 * t.limits.finish).count());
        status = called != HAL_OK ? called : t.api.synchronize_stream(t.dev, stream, limit);
    }
    t.check(status == HAL_ERROR_REMOTE || status == HAL_ERROR_TIMEOUT || status == HAL_ERROR_ABORTED,
            "REMOTE, TIMEOUT or ABORTED, not " + to_string(status));
    recover(t, stream);
    const Pattern pattern = t.pattern();
    t.expect(t.device(pattern, 4099, t.dev), pattern, "the device after it");
}

}  // namespace
}  // namespace hal::conformance

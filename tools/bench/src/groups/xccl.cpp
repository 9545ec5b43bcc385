// Collectives of the HAL beside Open MPI, Gloo and what shared memory allows. Every rank is a process of its own.
#include <fmt/format.h>

#include <memory>

#include "benchmark.hpp"
#include "context.hpp"
#include "xccl/collective.hpp"
#include "xccl/teams.hpp"

namespace hal::bench {
namespace {

using namespace xccl;

constexpr uint64_t kib = UINT64_C(1) << 10;
constexpr uint64_t mib = UINT64_C(1) << 20;

constexpr Goal at_most_us(double bound) {
    return {GoalKind::value_at_most, bound};
}
constexpr Goal at_most_peer(double factor) {
    return {GoalKind::ratio_at_most, factor};
}
constexpr Goal at_least_peer(double factor) {
    return {GoalKind::ratio_at_least, factor};
}

// The first command also starts the peer's team: one that is not here is a remark of the row, not its end.
Contest contest(Context& context, const std::shared_ptr<Teams>& teams, Library peer, const Command& command,
                Figure figure) {
    const double batch_s = context.settings().batch_s;
    static_cast<void>(context.backend());  // one clear failure here instead of one in each rank
    teams->set_backend(context.settings());
    static_cast<void>(teams->run(Library::hal, command));
    Contest contest;
    contest.ours = sampler(teams, Library::hal, command, figure, batch_s);
    try {
        static_cast<void>(teams->run(peer, command));
        contest.peer = sampler(teams, peer, command, figure, batch_s);
    } catch (const Unavailable& missing) {
        contest.note = missing.what();
    }
    return contest;
}

// The rows of one run; they share its teams.
class Rows {
  public:
    // Below 4 KiB a row is in microseconds a call, above in GB/s of the bus.
    void add(const Collective& collective, Library peer, const Goal& goal, const std::string& special = {}) {
        const bool wait_each = special == "sync";
        const Figure figure = collective.bytes < 4 * kib ? Figure::microseconds : Figure::bus_gigabytes;
        const bool time = figure == Figure::microseconds;
        list_.push_back(
            {row_name(collective, special),
             fmt::format("{} of {} ranks{}{}", name(collective.operation), collective.ranks,
                         collective.hosts == 1 ? "" : " on two hosts", wait_each ? ", waiting for each" : ""),
             std::string(name(peer)), time ? "us" : "GB/s", time ? Better::lower : Better::higher, goal,
             [=, teams = teams_](Context& context) {
                 return contest(context, teams, peer, {collective, 1, wait_each}, figure);
             }});
    }
    void add_all_reduce(int ranks, uint64_t bytes, Library peer, const Goal& goal, const std::string& special = {}) {
        add({Operation::all_reduce, bytes, ranks}, peer, goal, special);
    }
    [[nodiscard]] std::vector<Benchmark> take() { return std::move(list_); }

  private:
    std::shared_ptr<Teams> teams_ = std::make_shared<Teams>();
    std::vector<Benchmark> list_;
};

void add_others(Rows& rows, uint64_t bytes, double factor) {
    for (const auto operation :
         {Operation::broadcast, Operation::all_gather, Operation::reduce_scatter, Operation::alltoall}) {
        rows.add({operation, bytes, 2}, Library::open_mpi, at_least_peer(factor));
    }
}

void add_small(Rows& rows) {
    rows.add_all_reduce(2, 8, Library::open_mpi, at_most_peer(1));
    rows.add_all_reduce(2, 8, Library::limit, at_most_us(0.25), "limit");
    rows.add_all_reduce(2, 8, Library::open_mpi, {}, "sync");
    rows.add_all_reduce(2, 8, Library::gloo, {}, "gloo");
}

void add_large(Rows& rows, uint64_t bytes) {
    rows.add_all_reduce(2, bytes, Library::open_mpi, at_least_peer(5));
    rows.add_all_reduce(2, bytes, Library::limit, at_least_peer(0.8), "limit");
    rows.add_all_reduce(2, bytes, Library::gloo, {}, "gloo");
}

// As if on two hosts, beside the library that connects them used plainly.
void add_two_hosts(Rows& rows, bool quick) {
    constexpr double share = 0.95;
    const auto add = [&](Operation operation, uint64_t bytes, int ranks) {
        rows.add({operation, bytes, ranks, 2}, Library::gloo,
                 bytes < 4 * kib ? at_most_peer(1 / share) : at_least_peer(share));
    };
    add(Operation::all_reduce, 8, 2);
    add(Operation::all_reduce, 64 * kib, 2);
    for (const auto operation :
         {Operation::all_reduce, Operation::broadcast, Operation::all_gather, Operation::alltoall}) {
        add(operation, mib, 2);
        if (!quick) {
            add(operation, 64 * mib, 2);
        }
    }
    if (!quick) {
        add(Operation::all_reduce, 8, 4);
        add(Operation::all_reduce, 64 * mib, 4);
    }
}

// Sizes between the ones with a goal, so that a plot shows a curve. They have none.
void add_curve(Rows& rows) {
    for (const uint64_t bytes :
         {64 * UINT64_C(1), 512 * UINT64_C(1), 4 * kib, 16 * kib, 256 * kib, 4 * mib, 16 * mib}) {
        rows.add_all_reduce(2, bytes, Library::open_mpi, {});
        rows.add_all_reduce(2, bytes, Library::limit, {}, "limit");
        rows.add_all_reduce(2, bytes, Library::gloo, {}, "gloo");
    }
}

std::vector<Benchmark> benchmarks(const Settings& settings) {
    Rows rows;
    add_small(rows);
    add_large(rows, 64 * kib);
    add_large(rows, mib);
    add_others(rows, mib, 2);
    add_two_hosts(rows, settings.quick);
    if (!settings.quick) {
        add_large(rows, 64 * mib);
        add_others(rows, 64 * mib, 1.2);
        if (!settings.plot.empty()) {
            add_curve(rows);
        }
        rows.add_all_reduce(4, 8, Library::open_mpi, at_most_us(3));
        rows.add_all_reduce(4, 64 * mib, Library::open_mpi, at_least_peer(5));
    }
    return rows.take();
}

const Registration registration({"xccl", "collectives between processes", benchmarks});

}  // namespace
}  // namespace hal::bench

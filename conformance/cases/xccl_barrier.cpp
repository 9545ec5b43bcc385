// Table 10: barriers, in the order of streams. That a rank has not passed is seen by a wait with a time limit, which
// gives up while the last rank is held back by the coordinator; a barrier that is only slow passes nothing early.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

#define BARRIER comm_io(), E::xccl_barrier

void expect_held(Test& t, hal_stream stream, std::chrono::milliseconds look, Where where = Where::here()) {
    const auto limit = static_cast<uint64_t>(std::chrono::nanoseconds(look).count());
    const hal_status got = t.api.synchronize_stream(t.dev, stream, limit);
    t.eq(HAL_ERROR_TIMEOUT, got, "a barrier that a rank has not entered", where);
}

// All but the last rank enter and look; then the last one enters.
void check_last(Test& t, const Ready& r, int last, std::chrono::milliseconds look) {
    if (t.rank() != last) {
        t.ok(t.api.xccl_barrier(r.comm, r.stream));
        expect_held(t, r.stream, look);
    }
    t.rank_barrier();
    if (t.rank() == last) {
        t.ok(t.api.xccl_barrier(r.comm, r.stream));
    }
    waited(t, r.stream);
    t.rank_barrier();
}

HAL_CASE("45079.T10.xccl_barrier.order.no_exit_before_last_entry", clauses{"45079/T10.17"}, authority::S,
         needs{BARRIER}, number_of_ranks(2), cls::medium)
(Test& t) {
    const Ready r(t);
    if (r.comm != nullptr) {
        check_last(t, r, t.ranks() - 1, std::chrono::milliseconds(200));
    }
}

HAL_CASE("45079.T10.xccl_barrier.order.each_rank_last", clauses{"45079/T10.17"}, authority::S, needs{BARRIER},
         number_of_ranks(2), cls::medium)
(Test& t) {
    const Ready r(t);
    for (int round = 0; round < 2 * t.ranks() && r.comm != nullptr; ++round) {
        const auto in = t.context("last", static_cast<uint64_t>(round % t.ranks()));
        check_last(t, r, round % t.ranks(), t.limits.closed_look);
    }
}

// The call returns at once; what counts as entered is the work on the stream, which a gate holds.
HAL_CASE("45079.T10.xccl_barrier.order.on_stream", clauses{"45079/T10.17"}, authority::A, needs{BARRIER, a_gate},
         so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const Ready r(t);
    if (r.comm == nullptr) {
        return;
    }
    std::optional<Gate> gate;
    if (t.rank() == 0) {
        gate = t.gate(r.stream, t.dev);
        t.ok(t.returns([&] { return t.api.xccl_barrier(r.comm, r.stream); }, *gate));
    } else {
        t.ok(t.api.xccl_barrier(r.comm, r.stream));
    }
    t.rank_barrier();  // every rank has made the call
    if (t.rank() != 0) {
        expect_held(t, r.stream, t.limits.closed_look);
    }
    t.rank_barrier();
    if (gate) {
        (void)t.closed(*gate);
        gate->open();
    }
    waited(t, r.stream);
}

HAL_CASE("45079.T10.xccl_barrier.stress.n1000", clauses{"45079/T10.17"}, authority::D, needs{BARRIER},
         so_many_ranks({2, 4}), cls::medium)
(Test& t) {
    const Ready r(t);
    for (int i = 0; i < 1000 && r.comm != nullptr; ++i) {
        if (t.api.xccl_barrier(r.comm, r.stream) != HAL_OK) {
            t.check(false, "a barrier of a thousand");
            break;
        }
    }
    waited(t, r.stream);
}

HAL_CASE("45079.T10.xccl_barrier.norm.two_comms_independent", clauses{"45079/T10.17"}, authority::D, needs{BARRIER},
         so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const Ready held(t);
    const Ready other(t);
    if (held.comm == nullptr || other.comm == nullptr) {
        return;
    }
    const bool last = t.rank() == 0;
    if (!last) {
        t.ok(t.api.xccl_barrier(held.comm, held.stream));
    }
    t.ok(t.api.xccl_barrier(other.comm, other.stream));
    waited(t, other.stream);
    if (!last) {
        expect_held(t, held.stream, t.limits.closed_look);
    }
    t.rank_barrier();
    if (last) {
        t.ok(t.api.xccl_barrier(held.comm, held.stream));
    }
    waited(t, held.stream);
}

HAL_CASE("45079.T10.xccl_barrier.edge.size_1", clauses{"45079/T10.17"}, authority::D, needs{BARRIER}, cls::medium)
(Test& t) {
    const Ready r(t);
    t.ok(t.api.xccl_barrier(r.comm, r.stream));
    waited(t, r.stream);
}

// A barrier among other collectives of the communicator keeps its place.
HAL_CASE("45079.T10.xccl_barrier.order.among_collectives", clauses{"45079/T10.17"}, authority::D,
         needs{BARRIER, E::xccl_all_reduce}, so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const Ready r(t);
    std::deque<Round> rounds;
    for (int i = 0; i < 20 && r.comm != nullptr; ++i) {
        Shape shape;
        shape.count = 333;
        t.ok(rounds.emplace_back(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank())
                 .call(r.comm, r.stream));
        t.ok(t.api.xccl_barrier(r.comm, r.stream));
    }
    waited(t, r.stream);
    for (Round& round : rounds) {
        round.expect();
    }
}

HAL_CASE("45079.T10.xccl_barrier.err.null_comm", clauses{"45079/T10.17"}, authority::A, needs{E::xccl_barrier})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_barrier(nullptr, nullptr); });
}

}  // namespace
}  // namespace hal::conformance

// Table 10: making and destroying communicators, and what they say of themselves.
#include <algorithm>

#include "harness/meters.hpp"
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// Rank and size as the communicator says them.
void expect_place(Test& t, hal_comm comm, int rank, int size, Where where = Where::here()) {
    int32_t got_rank = INT32_MIN;
    int32_t got_size = INT32_MIN;
    t.ok(t.api.xccl_get_comm_rank(comm, &got_rank), "xccl_get_comm_rank", where);
    t.ok(t.api.xccl_get_comm_size(comm, &got_size), "xccl_get_comm_size", where);
    t.eq(rank, got_rank, "rank in the communicator", where);
    t.eq(size, got_size, "size of the communicator", where);
}

// That the ranks of the communicator reach each other: a sum of all.
void expect_works(Test& t, hal_comm comm, hal_stream stream, int ranks, int rank, Where where = Where::here()) {
    Shape shape;
    shape.count = 257;
    Round round(t, collective_of("xccl_all_reduce"), shape, ranks, rank, where);
    t.ok(round.call(comm, stream), "xccl_all_reduce", where);
    waited(t, stream, where);
    round.expect();
    round.release();
}

hal_comm init(Test& t, const std::string& id, int ranks, int rank, Where where = Where::here()) {
    hal_comm comm = nullptr;
    t.ok(t.api.xccl_comm_init_rank(t.dev, ranks, id.data(), id.size(), rank, &comm), "xccl_comm_init_rank", where);
    return comm;
}

#define WORKS comm_io(), E::xccl_all_reduce
#define PLACE comm_io(), E::xccl_get_comm_rank, E::xccl_get_comm_size

// ---- xccl_comm_init_rank ----

HAL_CASE("45079.T10.xccl_comm_init_rank.norm.ranks", clauses{"45079/T10.3"}, authority::S, needs{WORKS},
         number_of_ranks(), cls::medium)
(Test& t) {
    const hal_comm comm = t.communicator();
    if (t.check(comm != nullptr, "a communicator")) {
        expect_works(t, comm, t.stream(t.dev), t.ranks(), t.rank());
    }
}

// Ranks come one after the other, in any order, the last one late: each waits for the word that those before it are in
// the call, then for a moment in which they can only wait.
HAL_CASE("45079.T10.xccl_comm_init_rank.norm.rank_order_any", clauses{"45079/T10.3"}, authority::D, needs{WORKS},
         so_many_ranks({3, 4}), cls::medium)
(Test& t) {
    for (int first = 0; first < t.ranks(); ++first) {
        const std::string id = t.unique_id();
        std::unique_ptr<Helper> joining;
        hal_comm comm = nullptr;
        for (int turn = 0; turn < t.ranks(); ++turn) {
            if ((first + turn) % t.ranks() == t.rank()) {
                joining = std::make_unique<Helper>(
                    [&] { return t.api.xccl_comm_init_rank(t.dev, t.ranks(), id.data(), id.size(), t.rank(), &comm); });
            } else if (joining && turn + 1 < t.ranks()) {
                t.check(!joining->returned_within(t.limits.closed_look), "the call waits for ranks that have not come");
            }
            t.rank_barrier();
        }
        if (t.ok(joining->status(), "xccl_comm_init_rank")) {
            expect_works(t, t.keep_comm(comm), t.stream(t.dev), t.ranks(), t.rank());
        }
    }
}

HAL_CASE("45079.T10.xccl_comm_init_rank.norm.two_comms", clauses{"45079/T10.3"}, authority::D, needs{WORKS},
         so_many_ranks({2, 4}), cls::medium)
(Test& t) {
    const hal_comm first = t.communicator();
    const hal_comm second = t.communicator();
    if (t.check(first != nullptr && second != nullptr && first != second, "two communicators")) {
        const hal_stream stream = t.stream(t.dev);
        expect_works(t, second, stream, t.ranks(), t.rank());
        expect_works(t, first, stream, t.ranks(), t.rank());
    }
}

// Some of the ranks alone, with numbers of their own.
HAL_CASE("45079.T10.xccl_comm_init_rank.norm.subset", clauses{"45079/T10.3"}, authority::D, needs{WORKS, PLACE},
         so_many_ranks({4, 5}), cls::medium)
(Test& t) {
    const std::vector<int> members{3, 1};
    const hal_comm comm = t.communicator(members);
    const auto place = std::find(members.begin(), members.end(), t.rank());
    t.eq(place != members.end(), comm != nullptr, "a communicator for members only");
    if (comm != nullptr) {
        const auto rank = static_cast<int>(place - members.begin());
        expect_place(t, comm, rank, 2);
        expect_works(t, comm, t.stream(t.dev), 2, rank);
    }
}

// Threads of one process, each with a device of its own or all on one, are ranks like any.
HAL_CASE("45079.T10.xccl_comm_init_rank.conc.threads_one_process", clauses{"45079/T10.3"}, authority::A,
         needs{WORKS, place_for(3), free_threads}, cls::medium)
(Test& t) {
    constexpr int ranks = 3;
    const std::string id = t.unique_id();
    std::vector<hal_comm> comms(ranks);
    const auto device_of = [&](int rank) { return rank % t.facts.device_count; };
    t.threads(ranks, [&](int rank) {
        t.ok(t.api.xccl_comm_init_rank(device_of(rank), ranks, id.data(), id.size(), rank,
                                       &comms[static_cast<size_t>(rank)]));
    });
    std::vector<const DeviceBuffer*> buffers;
    std::vector<hal_stream> streams;
    const Reduction sum{element_of(HAL_F32), HAL_REDUCE_SUM};
    for (int rank = 0; rank < ranks; ++rank) {
        const Bytes data = given(sum, ranks, rank, 1000, 1);
        buffers.push_back(&t.device(data.size(), device_of(rank)));
        write_bytes(t, *buffers.back(), data);
        streams.push_back(t.stream(device_of(rank)));
    }
    t.threads(ranks, [&](int rank) {
        const auto i = static_cast<size_t>(rank);
        if (comms[i] != nullptr) {
            t.ok(t.api.xccl_all_reduce(buffers[i]->ptr, buffers[i]->ptr, 1000, HAL_F32, HAL_REDUCE_SUM, comms[i],
                                       streams[i]));
            t.ok(t.api.synchronize_stream(device_of(rank), streams[i], HAL_NO_TIMEOUT));
            expect_bytes(t, *buffers[i], reduced(sum, ranks, 1000, 1), "the sum of all threads");
            t.ok(t.api.xccl_destroy_comm(comms[i]));
        }
    });
}

HAL_CASE("45079.T10.xccl_comm_init_rank.leak.init_destroy", clauses{"45079/T10.3"}, authority::A, needs{WORKS},
         so_many_ranks({2}), over("n", {"50"}), cls::long_)
(Test& t) {
    const hal_stream stream = t.stream(t.dev);
    const auto chunk = [&] {
        for (int i = 0; i < 50; ++i) {
            const hal_comm comm = init(t, t.unique_id(), t.ranks(), t.rank());
            Shape shape;
            shape.count = 100;
            run_round(t, collective_of("xccl_all_reduce"), shape, comm, stream);
            t.ok(t.api.xccl_destroy_comm(comm));
        }
    };
    const auto read = [&] { return read_meters(t.api, t.facts.device_count); };
    chunk();
    t.rank_barrier();
    const Meters before = read();
    chunk();
    chunk();
    t.rank_barrier();
    const Meters after = read();
    t.le(after.fds, before.fds + 2, "descriptors after 100 communicators more");
    t.le(after.threads, before.threads, "threads after 100 communicators more");
    t.le(after.maps, before.maps + 16, "mappings after 100 communicators more");
    // Of all processes of the machine, so that others may move it; a segment for each communicator would be 100.
    t.le(after.shm, before.shm + 50, "entries of /dev/shm after 100 communicators more");
}

// Either works or is refused, and ends.
HAL_CASE("45079.T10.xccl_comm_init_rank.norm.same_id_twice", clauses{"45079/T10.3"}, authority::Q, needs{comm_io()},
         cls::medium)
(Test& t) {
    const std::string id = t.unique_id();
    const hal_comm first = init(t, id, 1, 0);
    hal_comm second = nullptr;
    const hal_status got = t.api.xccl_comm_init_rank(0, 1, id.data(), id.size(), 0, &second);
    t.check(got == HAL_OK || (got < 0 && second == nullptr), "a second communicator, or a refusal and none");
    for (const hal_comm comm : {first, second}) {
        t.check(comm == nullptr || t.api.xccl_destroy_comm(comm) == HAL_OK, "destroyed");
    }
}

// ---- xccl_destroy_comm ----

HAL_CASE("45079.T10.xccl_destroy_comm.norm.other_comm_unhurt", clauses{"45079/T10.4"}, authority::D, needs{WORKS},
         so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const hal_comm kept = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    for (int i = 0; i < 5 && kept != nullptr; ++i) {
        const hal_comm other = init(t, t.unique_id(), t.ranks(), t.rank());
        expect_works(t, other, stream, t.ranks(), t.rank());
        t.ok(t.api.xccl_destroy_comm(other));
        expect_works(t, kept, stream, t.ranks(), t.rank());
    }
}

HAL_CASE("45079.T10.xccl_destroy_comm.edge.any_rank_order", clauses{"45079/T10.4"}, authority::D, needs{WORKS},
         so_many_ranks({3, 4}), cls::medium)
(Test& t) {
    const hal_stream stream = t.stream(t.dev);
    for (int first = 0; first < t.ranks(); ++first) {
        const hal_comm comm = init(t, t.unique_id(), t.ranks(), t.rank());
        expect_works(t, comm, stream, t.ranks(), t.rank());
        for (int turn = 0; turn < t.ranks(); ++turn) {
            if ((first + turn) % t.ranks() == t.rank()) {
                t.ok(t.api.xccl_destroy_comm(comm));
            }
            t.rank_barrier();
        }
    }
}

// It waits for the communicator's work, which a gate holds.
HAL_CASE("45079.T10.xccl_destroy_comm.order.pending", clauses{"45079/T10.4"}, authority::A, needs{WORKS, a_gate},
         so_many_ranks({2, 1}), cls::medium)
(Test& t) {
    const hal_comm comm = init(t, t.unique_id(), t.ranks(), t.rank());
    const hal_stream stream = t.stream(t.dev);
    Shape shape;
    shape.count = 3001;
    Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());
    const Gate gate = t.gate(stream, t.dev);
    t.ok(t.returns([&] { return round.call(comm, stream); }, gate));
    Helper destroy([&] { return t.api.xccl_destroy_comm(comm); });
    (void)destroy.returned_within(t.limits.closed_look);  // it may return, and do the rest later
    gate.open();
    t.check(destroy.returned_within(t.limits.finish), "the call ends");
    t.ok(destroy.status(), "xccl_destroy_comm");
    waited(t, stream);
    round.expect();
}

HAL_CASE("45079.T10.xccl_destroy_comm.norm.resources_gone", clauses{"45079/T10.4"}, authority::D, needs{WORKS},
         so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const hal_stream stream = t.stream(t.dev);
    const auto use_one = [&] {
        const hal_comm comm = init(t, t.unique_id(), t.ranks(), t.rank());
        expect_works(t, comm, stream, t.ranks(), t.rank());
        t.ok(t.api.xccl_destroy_comm(comm));
        t.rank_barrier();
    };
    use_one();  // what the first one sets up for all may stay
    const Meters before = read_meters();
    use_one();
    const Meters after = read_meters();
    t.le(after.fds, before.fds, "descriptors after the communicator");
    t.le(after.threads, before.threads, "threads after the communicator");
}

HAL_CASE("45079.T10.xccl_destroy_comm.life.reinit_same_ranks", clauses{"45079/T10.4"}, authority::D, needs{WORKS},
         so_many_ranks({2, 4}), cls::medium)
(Test& t) {
    const hal_stream stream = t.stream(t.dev);
    for (int i = 0; i < 10; ++i) {
        const hal_comm comm = init(t, t.unique_id(i % t.ranks()), t.ranks(), t.rank());
        expect_works(t, comm, stream, t.ranks(), t.rank());
        t.ok(t.api.xccl_destroy_comm(comm));
    }
}

// ---- xccl_get_comm_rank, xccl_get_comm_size ----

#define PLACE_CASES(row, entry)                                                                                    \
    HAL_CASE("45079.T10." #entry ".norm.equals_init", clauses{"45079/T10." #row}, authority::S, needs{PLACE},      \
             number_of_ranks(), cls::medium)                                                                       \
    (Test & t) {                                                                                                   \
        const hal_comm comm = t.communicator();                                                                    \
        expect_place(t, comm, t.rank(), t.ranks());                                                                \
    }                                                                                                              \
    HAL_CASE("45079.T10." #entry ".norm.each_comm", clauses{"45079/T10." #row}, authority::D, needs{PLACE},        \
             so_many_ranks({3}), cls::medium)                                                                      \
    (Test & t) {                                                                                                   \
        const hal_comm all = t.communicator();                                                                     \
        const hal_comm backwards = t.communicator({2, 1, 0});                                                      \
        const hal_comm pair = t.communicator({2, 0});                                                              \
        expect_place(t, all, t.rank(), 3);                                                                         \
        expect_place(t, backwards, 2 - t.rank(), 3);                                                               \
        if (pair != nullptr) {                                                                                     \
            expect_place(t, pair, t.rank() == 2 ? 0 : 1, 2);                                                       \
        }                                                                                                          \
    }                                                                                                              \
    HAL_CASE("45079.T10." #entry ".norm.each_thread", clauses{"45079/T10." #row}, authority::A,                    \
             needs{PLACE, free_threads}, so_many_ranks({2}), cls::medium)                                          \
    (Test & t) {                                                                                                   \
        const hal_comm comm = t.communicator();                                                                    \
        t.threads(4, [&](int) { expect_place(t, comm, t.rank(), t.ranks()); });                                    \
    }                                                                                                              \
    HAL_CASE("45079.T10." #entry ".norm.while_pending", clauses{"45079/T10." #row}, authority::A,                  \
             needs{PLACE, WORKS, a_gate}, so_many_ranks({2}), cls::medium)                                         \
    (Test & t) {                                                                                                   \
        check_while_pending(t);                                                                                    \
    }                                                                                                              \
    HAL_CASE("45079.T10." #entry ".err.null", clauses{"45079/T10." #row}, authority::A, needs{PLACE}, cls::medium) \
    (Test & t) {                                                                                                   \
        const hal_comm comm = t.communicator();                                                                    \
        int32_t number = 77;                                                                                       \
        t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.entry(nullptr, &number); });                          \
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.entry(comm, nullptr); });                           \
        t.eq(77, number, "the output after the refusals");                                                         \
    }

void check_while_pending(Test& t) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    Shape shape;
    shape.count = 1000;
    Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());
    const Gate gate = t.gate(stream, t.dev);
    t.ok(t.returns([&] { return round.call(comm, stream); }, gate));
    t.ok(t.returns(
        [&] {
            expect_place(t, comm, t.rank(), t.ranks());
            return HAL_OK;
        },
        gate));
    gate.open();
    waited(t, stream);
    round.expect();
}

PLACE_CASES(15, xccl_get_comm_rank)
PLACE_CASES(16, xccl_get_comm_size)

}  // namespace
}  // namespace hal::conformance

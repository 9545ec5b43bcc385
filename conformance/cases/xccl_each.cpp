// Tables 10 and 110: what holds for every collective, asserted for each of them.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// Where the ranks meet first, so that a failure there is said once.
struct Ready {
    explicit Ready(Test& t, Where where = Where::here()) : comm(t.communicator({}, where)), stream(t.stream(t.dev)) {}
    hal_comm comm;
    hal_stream stream;
};

std::vector<int> roots(const Collective& collective, int ranks) {
    std::vector<int> list{0};
    for (int root = 1; collective.rooted && root < ranks; ++root) {
        list.push_back(root);
    }
    return list;
}

// ---- Bodies ----

// Every type and operation that the back end says it takes, bit for bit.
void check_exact(Test& t) {
    const Ready r(t);
    const Collective& collective = collective_of(t);
    for (const Reduction& reduction : r.comm == nullptr ? std::vector<Reduction>() : reductions(t, collective.kind)) {
        const auto in_type = t.context("dtype", reduction.type.dtype);
        const auto in_op = t.context("op", reduction.op);
        for (const uint64_t count : {1, 3, 257}) {
            const auto in = t.context("count", count);
            Shape shape;
            shape.reduction = reduction;
            shape.count = count;
            shape.root = t.ranks() - 1;
            run_round(t, collective, shape, r.comm, r.stream);
        }
    }
}

void check_counts(Test& t) {
    const Ready r(t);
    const auto n = static_cast<uint64_t>(t.ranks());
    for (const uint64_t count : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, n, n + 1, 2 * n - 1,
                                 uint64_t{1023}, uint64_t{1024}, uint64_t{1025}, uint64_t{65'537}}) {
        if (r.comm != nullptr) {
            const auto in = t.context("count", count);
            Shape shape;
            shape.count = count;
            run_round(t, collective_of(t), shape, r.comm, r.stream);
        }
    }
}

// Nothing is moved, and the next call moves what it should.
void check_count_0(Test& t) {
    const Ready r(t);
    for (const uint64_t count : {0, 5, 0, 1}) {
        if (r.comm != nullptr) {
            const auto in = t.context("count", count);
            Shape shape;
            shape.count = count;
            run_round(t, collective_of(t), shape, r.comm, r.stream);
        }
    }
}

// Counts are elements: data of each size of element, and the byte behind the last one.
void check_elements(Test& t) {
    const Ready r(t);
    const Collective& collective = collective_of(t);
    for (const hal_dtype type : r.comm == nullptr ? std::vector<hal_dtype>() : carried_types(t, collective.kind)) {
        const auto in = t.context("dtype", type);
        Shape shape;
        shape.carried = type;
        shape.count = 1001;
        run_round(t, collective, shape, r.comm, r.stream);
    }
}

void check_misaligned(Test& t) {
    const Ready r(t);
    for (const std::string_view name : {"i8", "f16", "f32"}) {
        for (const uint64_t offset : {1, 3}) {
            const Reduction reduction{element_of(name), HAL_REDUCE_SUM};
            if (r.comm != nullptr && takes(t, collective_of(t).kind, reduction.type.dtype, reduction.op)) {
                const auto in = t.context("offset", offset);
                Shape shape;
                shape.reduction = reduction;
                shape.carried = reduction.type.dtype;
                shape.count = 1001;
                shape.offset = offset;
                run_round(t, collective_of(t), shape, r.comm, r.stream);
            }
        }
    }
}

void check_in_place(Test& t) {
    const Ready r(t);
    for (const uint64_t count : {1, 5, 1025, 40'003}) {
        for (const int root : roots(collective_of(t), t.ranks())) {
            if (r.comm != nullptr) {
                const auto in = t.context("count", count);
                Shape shape;
                shape.count = count;
                shape.root = root;
                shape.in_place = true;
                run_round(t, collective_of(t), shape, r.comm, r.stream);
            }
        }
    }
}

void check_each_root(Test& t) {
    const Ready r(t);
    for (const int root : roots(collective_of(t), t.ranks())) {
        if (r.comm != nullptr) {
            const auto in = t.context("root", static_cast<uint64_t>(root));
            Shape shape;
            shape.count = 1009;
            shape.root = root;
            run_round(t, collective_of(t), shape, r.comm, r.stream);
        }
    }
}

void check_big(Test& t) {
    const Ready r(t);
    if (r.comm != nullptr) {
        Shape shape;
        shape.count = (1U << 20U) + 3;
        run_round(t, collective_of(t), shape, r.comm, r.stream);
    }
}

// Behind a gate of the stream nothing is written, and the data are those that the stream itself brings before it.
void check_behind_gate(Test& t, hal_comm comm, hal_stream stream) {
    if (comm == nullptr) {
        return;
    }
    Shape shape;
    shape.count = 5003;
    Round round(t, collective_of(t), shape, t.ranks(), t.rank());
    const Gate gate = t.gate(stream, t.dev);
    const auto status = t.returns([&] { return round.call(comm, stream); }, gate);
    t.ok(status, "the call behind a gate");
    t.expect_unwritten(round.result(), gate);
    t.rank_barrier();  // every rank has looked behind its gate
    gate.open();
    waited(t, stream);
    round.expect();
}
void check_on_stream(Test& t) {
    const Ready r(t);
    check_behind_gate(t, r.comm, r.stream);
}
// The null stream is one of the communicator's device like any.
void check_null_stream(Test& t) {
    check_behind_gate(t, t.communicator(), nullptr);
}

// Many calls without a wait, each with data of its own.
void check_back_to_back(Test& t) {
    const Ready r(t);
    std::deque<Round> rounds;
    for (int i = 0; i < 100 && r.comm != nullptr; ++i) {
        Shape shape;
        shape.count = static_cast<uint64_t>(1 + 37 * i % 513);
        shape.root = collective_of(t).rooted ? i % t.ranks() : 0;
        t.ok(rounds.emplace_back(t, collective_of(t), shape, t.ranks(), t.rank()).call(r.comm, r.stream), "the call");
    }
    waited(t, r.stream);
    for (Round& round : rounds) {
        round.expect();
        round.release();
    }
}

// Two communicators on two streams, the second one with the ranks the other way round.
void check_two_comms(Test& t) {
    const Ready r(t);
    std::vector<int> backwards;
    for (int rank = t.ranks(); rank-- > 0;) {
        backwards.push_back(rank);
    }
    const hal_comm other = t.communicator(backwards);
    const hal_stream stream = t.stream(t.dev);
    std::deque<Round> rounds;
    for (int i = 0; i < 10 && r.comm != nullptr && other != nullptr; ++i) {
        Shape shape;
        shape.count = 2003;
        Round& first = rounds.emplace_back(t, collective_of(t), shape, t.ranks(), t.rank());
        Round& second = rounds.emplace_back(t, collective_of(t), shape, t.ranks(), t.ranks() - 1 - t.rank());
        t.ok(first.call(r.comm, r.stream), "the call on the first communicator");
        t.ok(second.call(other, stream), "the call on the second one");
    }
    waited(t, r.stream);
    waited(t, stream);
    for (Round& round : rounds) {
        round.expect();
    }
}

needs with_gate(needs list) {
    list.list.push_back(a_gate);
    return list;
}

// ---- Registration: the same for each, under the id of its entry ----

#define EACH(id, clause, needs_of)                                                                                    \
    HAL_CASE(id ".edge.counts", clauses{clause}, authority::D, needs_of, number_of_ranks(), cls::medium)(Test & t) {  \
        check_counts(t);                                                                                              \
    }                                                                                                                 \
    HAL_CASE(id ".edge.count_0", clauses{clause}, authority::A, needs_of, so_many_ranks({2, 1, 3}), cls::medium)      \
    (Test & t) {                                                                                                      \
        check_count_0(t);                                                                                             \
    }                                                                                                                 \
    HAL_CASE(id ".edge.misaligned", clauses{clause}, authority::D, needs_of, so_many_ranks({2, 3}), cls::medium)      \
    (Test & t) {                                                                                                      \
        check_misaligned(t);                                                                                          \
    }                                                                                                                 \
    HAL_CASE(id ".norm.big", clauses{clause}, authority::D, needs_of, so_many_ranks({2, 3}), cls::medium)(Test & t) { \
        check_big(t);                                                                                                 \
    }                                                                                                                 \
    HAL_CASE(id ".order.on_stream", clauses{clause}, authority::A, with_gate(needs_of), so_many_ranks({2, 1, 3}),     \
             cls::medium)                                                                                             \
    (Test & t) {                                                                                                      \
        check_on_stream(t);                                                                                           \
    }                                                                                                                 \
    HAL_CASE(id ".order.null_stream", clauses{clause}, authority::A, with_gate(needs_of), so_many_ranks({2, 1}),      \
             cls::medium)                                                                                             \
    (Test & t) {                                                                                                      \
        check_null_stream(t);                                                                                         \
    }                                                                                                                 \
    HAL_CASE(id ".order.back_to_back", clauses{clause}, authority::D, needs_of, so_many_ranks({2, 4}), cls::medium)   \
    (Test & t) {                                                                                                      \
        check_back_to_back(t);                                                                                        \
    }                                                                                                                 \
    HAL_CASE(id ".conc.two_comms_two_streams", clauses{clause}, authority::A, needs_of, so_many_ranks({2, 3}),        \
             cls::medium)                                                                                             \
    (Test & t) {                                                                                                      \
        check_two_comms(t);                                                                                           \
    }
#define ONE(id, clause, rights, needs_of, check)                                                \
    HAL_CASE(id, clauses{clause}, rights, needs_of, number_of_ranks(), cls::medium)(Test & t) { \
        check(t);                                                                               \
    }

// The entry's own needs.
#define NEEDS(...) (needs{comm_io(), __VA_ARGS__})

EACH("45079.T10.xccl_all_reduce", "45079/T10.5", NEEDS(E::xccl_all_reduce))
EACH("45079.T10.xccl_broadcast", "45079/T10.6", NEEDS(E::xccl_broadcast))
EACH("45079.T10.xccl_reduce", "45079/T10.7", NEEDS(E::xccl_reduce))
EACH("45079.T10.xccl_all_gather", "45079/T10.8", NEEDS(E::xccl_all_gather))
EACH("45079.T10.xccl_reduce_scatter", "45079/T10.9", NEEDS(E::xccl_reduce_scatter))
EACH("45079.T10.xccl_send", "45079/T10.12", NEEDS(E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end))
EACH("45079.T10.xccl_recv", "45079/T10.13", NEEDS(E::xccl_recv, E::xccl_send, E::xccl_group_start, E::xccl_group_end))
EACH("45079.T10.xccl_alltoall", "45079/T10.18", NEEDS(E::xccl_alltoall))
EACH("hal.xccl_ext.xccl_alltoallv", "hal/9", NEEDS(E::xccl_alltoallv))
EACH("hal.xccl_ext.xccl_gather", "hal/9", NEEDS(E::xccl_gather))
EACH("hal.xccl_ext.xccl_scatter", "hal/9", NEEDS(E::xccl_scatter))

ONE("45079.T10.xccl_all_reduce.num.exact", "45079/T10.5", authority::D, NEEDS(E::xccl_all_reduce), check_exact)
ONE("45079.T10.xccl_reduce.num.exact", "45079/T10.7", authority::D, NEEDS(E::xccl_reduce), check_exact)
ONE("45079.T10.xccl_reduce_scatter.num.exact", "45079/T10.9", authority::D, NEEDS(E::xccl_reduce_scatter), check_exact)

ONE("45079.T10.xccl_all_reduce.norm.inplace", "45079/T10.5", authority::D, NEEDS(E::xccl_all_reduce), check_in_place)
ONE("45079.T10.xccl_broadcast.norm.inplace", "45079/T10.6", authority::D, NEEDS(E::xccl_broadcast), check_in_place)
ONE("45079.T10.xccl_reduce.norm.inplace", "45079/T10.7", authority::D, NEEDS(E::xccl_reduce), check_in_place)
ONE("45079.T10.xccl_all_gather.norm.inplace", "45079/T10.8", authority::A, NEEDS(E::xccl_all_gather), check_in_place)
ONE("45079.T10.xccl_reduce_scatter.norm.inplace", "45079/T10.9", authority::A, NEEDS(E::xccl_reduce_scatter),
    check_in_place)

ONE("45079.T10.xccl_broadcast.norm.each_root", "45079/T10.6", authority::S, NEEDS(E::xccl_broadcast), check_each_root)
ONE("45079.T10.xccl_reduce.norm.each_root", "45079/T10.7", authority::S, NEEDS(E::xccl_reduce), check_each_root)
ONE("hal.xccl_ext.xccl_gather.norm.each_root", "hal/9", authority::A, NEEDS(E::xccl_gather), check_each_root)
ONE("hal.xccl_ext.xccl_scatter.norm.each_root", "hal/9", authority::A, NEEDS(E::xccl_scatter), check_each_root)

#define ELEMENTS(id, clause, needs_of)                                                                       \
    HAL_CASE(id, clauses{clause}, authority::D, needs_of, so_many_ranks({2, 1, 3}), cls::medium)(Test & t) { \
        check_elements(t);                                                                                   \
    }
ELEMENTS("45079.T10.xccl_broadcast.norm.count_is_elements", "45079/T10.6", NEEDS(E::xccl_broadcast))
ELEMENTS("45079.T10.xccl_all_gather.norm.count_is_per_rank_send", "45079/T10.8", NEEDS(E::xccl_all_gather))
ELEMENTS("45079.T10.xccl_send.norm.count_elements", "45079/T10.12",
         NEEDS(E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end))
ELEMENTS("45079.T10.xccl_recv.norm.count_elements", "45079/T10.13",
         NEEDS(E::xccl_recv, E::xccl_send, E::xccl_group_start, E::xccl_group_end))
ELEMENTS("45079.T10.xccl_alltoall.norm.count_is_per_peer", "45079/T10.18", NEEDS(E::xccl_alltoall))
ELEMENTS("hal.xccl_ext.xccl_alltoallv.norm.count_is_elements", "hal/9", NEEDS(E::xccl_alltoallv))
ELEMENTS("hal.xccl_ext.xccl_gather.norm.count_is_elements", "hal/9", NEEDS(E::xccl_gather))
ELEMENTS("hal.xccl_ext.xccl_scatter.norm.count_is_elements", "hal/9", NEEDS(E::xccl_scatter))

}  // namespace
}  // namespace hal::conformance

// Table 10: groups.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

#define GROUP comm_io(), E::xccl_group_start, E::xccl_group_end
#define PAIR GROUP, E::xccl_send, E::xccl_recv

// Under both ids, because neither entry is of use without the other.
#define BOTH(tail, rights, list, count, check)                                                                        \
    HAL_CASE("45079.T10.xccl_group_start." tail, clauses{"45079/T10.10"}, rights, list, count, cls::medium)           \
    (Test & t) {                                                                                                      \
        check(t);                                                                                                     \
    }                                                                                                                 \
    HAL_CASE("45079.T10.xccl_group_end." tail, clauses{"45079/T10.11"}, rights, list, count, cls::medium)(Test & t) { \
        check(t);                                                                                                     \
    }
#define BOTH_ALONE(tail, rights, list, check)                                                                    \
    HAL_CASE("45079.T10.xccl_group_start." tail, clauses{"45079/T10.10"}, rights, list, cls::medium)(Test & t) { \
        check(t);                                                                                                \
    }                                                                                                            \
    HAL_CASE("45079.T10.xccl_group_end." tail, clauses{"45079/T10.11"}, rights, list, cls::medium)(Test & t) {   \
        check(t);                                                                                                \
    }

// Two ranks send to each other first, which waits for ever where the receive must be issued after it.
void check_defers(Test& t) {
    const Ready r(t);
    const int peer = 1 - t.rank();
    constexpr uint64_t size = (4U << 20U) + 3;
    const DeviceBuffer& source = device_with(t, tagged(1, t.rank(), peer, size));
    const DeviceBuffer& target = t.device(size, t.dev);
    t.ok(t.api.xccl_group_start());
    t.ok(t.api.xccl_send(source.ptr, size, HAL_U8, peer, r.comm, r.stream), "xccl_send");
    t.ok(t.api.xccl_recv(target.ptr, size, HAL_U8, peer, r.comm, r.stream), "xccl_recv");
    t.rank_barrier();  // every rank has made its calls, and none has issued them
    waited(t, r.stream);
    t.expect(target, poison, "before the end of the group");
    t.rank_barrier();
    t.ok(t.api.xccl_group_end());
    waited(t, r.stream);
    expect_bytes(t, target, tagged(1, peer, t.rank(), size), "what the other one sent");
}
BOTH("norm.defers", authority::D, (needs{PAIR}), so_many_ranks({2}), check_defers)

// Only the outermost end issues.
void check_nested(Test& t) {
    const Ready r(t);
    const int next = (t.rank() + 1) % t.ranks();
    const int before = (t.rank() + t.ranks() - 1) % t.ranks();
    const DeviceBuffer& source = device_with(t, tagged(2, t.rank(), next, 999));
    const DeviceBuffer& target = t.device(999, t.dev);
    t.ok(t.api.xccl_group_start());
    t.ok(t.api.xccl_group_start());
    t.ok(t.api.xccl_send(source.ptr, 999, HAL_U8, next, r.comm, r.stream));
    t.ok(t.api.xccl_group_end(), "the inner end");
    t.ok(t.api.xccl_group_start());
    t.ok(t.api.xccl_group_end(), "an inner end of nothing");
    t.ok(t.api.xccl_recv(target.ptr, 999, HAL_U8, before, r.comm, r.stream));
    t.rank_barrier();
    waited(t, r.stream);
    t.expect(target, poison, "before the outermost end");
    t.rank_barrier();
    t.ok(t.api.xccl_group_end(), "the outermost end");
    waited(t, r.stream);
    expect_bytes(t, target, tagged(2, before, t.rank(), 999), "what the one before sent");
}
BOTH("norm.nested", authority::A, (needs{PAIR}), so_many_ranks({2, 3}), check_nested)

void check_empty(Test& t) {
    for (int i = 0; i < 10; ++i) {
        t.ok(t.api.xccl_group_start());
        t.ok(t.api.xccl_group_end());
    }
    const Ready r(t);
    t.check(r.comm != nullptr, "a communicator after empty groups");
}
BOTH_ALONE("norm.empty", authority::A, (needs{GROUP}), check_empty)

void check_mixed(Test& t) {
    const Ready r(t);
    std::deque<Round> rounds;
    t.ok(t.api.xccl_group_start());
    for (const std::string_view entry : {"xccl_all_reduce", "xccl_broadcast", "xccl_send", "xccl_all_gather"}) {
        Shape shape;
        shape.count = 777;
        t.ok(rounds.emplace_back(t, collective_of(entry), shape, t.ranks(), t.rank()).call(r.comm, r.stream));
    }
    t.ok(t.api.xccl_group_end());
    waited(t, r.stream);
    for (Round& round : rounds) {
        round.expect();
    }
}
BOTH("norm.mixed_collectives", authority::A, (needs{PAIR, E::xccl_all_reduce, E::xccl_broadcast, E::xccl_all_gather}),
     so_many_ranks({2, 3}), check_mixed)

// Operations of two communicators in one group, which half of the ranks name the other way round.
void check_many_comms(Test& t) {
    const Ready first(t);
    const Ready second(t);
    Shape shape;
    shape.count = 555;
    const Collective& all_reduce = collective_of("xccl_all_reduce");
    Round a(t, all_reduce, shape, t.ranks(), t.rank());
    Round b(t, all_reduce, shape, t.ranks(), t.rank());
    t.ok(t.api.xccl_group_start());
    if (t.rank() % 2 == 0) {
        t.ok(a.call(first.comm, first.stream));
        t.ok(b.call(second.comm, second.stream));
    } else {
        t.ok(b.call(second.comm, second.stream));
        t.ok(a.call(first.comm, first.stream));
    }
    t.ok(t.api.xccl_group_end());
    waited(t, first.stream);
    waited(t, second.stream);
    a.expect();
    b.expect();
}
BOTH("norm.many_comms", authority::A, (needs{GROUP, E::xccl_all_reduce}), so_many_ranks({2, 3}), check_many_comms)

void check_end_without_start(Test& t) {
    t.fails_any({HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_NOT_FOUND, HAL_ERROR_INVALID_HANDLE},
                [&] { return t.api.xccl_group_end(); });
    t.ok(t.api.xccl_group_start(), "a group after the refusal");
    t.ok(t.api.xccl_group_end());
    t.check(t.api.xccl_group_end() < 0, "one end too many");
}
BOTH_ALONE("err.end_without_start", authority::A, (needs{E::xccl_group_start, E::xccl_group_end}),
           check_end_without_start)

// A wrong call inside shows at the outermost end at the latest, and the group after it is as new.
void check_inside(Test& t) {
    const Ready r(t);
    const DeviceBuffer& buffer = t.device(64, t.dev);
    t.ok(t.api.xccl_group_start());
    t.ok(t.api.xccl_group_start());
    (void)t.api.xccl_send(buffer.ptr, 64, HAL_U8, t.ranks() + 5, r.comm, r.stream);
    t.ok(t.api.xccl_group_end(), "the inner end");
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.xccl_group_end(); });
    t.ok(t.api.xccl_group_start(), "a group after the failure");
    t.ok(t.api.xccl_group_end());
    t.expect(buffer, poison, "memory of the refused call");
}
BOTH_ALONE("err.inside_reported_at_end", authority::A, (needs{PAIR}), check_inside)

// While one thread is in a group another one's calls are issued at once.
void check_per_thread(Test& t) {
    const Ready r(t);
    Shape shape;
    shape.count = 444;
    Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());
    t.ok(t.api.xccl_group_start());
    t.threads(1, [&](int) {
        t.ok(round.call(r.comm, r.stream), "a call of a thread that is in no group");
        waited(t, r.stream);
        round.expect();
        t.check(t.api.xccl_group_end() < 0, "the other thread's group is not this one's to end");
    });
    t.ok(t.api.xccl_group_end());
}
BOTH("conc.per_thread", authority::A, (needs{GROUP, E::xccl_all_reduce, free_threads}), so_many_ranks({2, 1}),
     check_per_thread)

// The operations of a group are work of their stream like any: behind what was there, before what comes.
void check_after_end(Test& t) {
    const Ready r(t);
    Shape shape;
    shape.count = 4001;
    Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());
    const Gate gate = t.gate(r.stream, t.dev);
    t.ok(t.api.xccl_group_start());
    t.ok(round.call(r.comm, r.stream));
    // The end belongs to this thread, which is why it is not a helper's call.
    t.ok(t.api.xccl_group_end());
    (void)t.closed(gate);
    t.expect_unwritten(round.result(), gate);
    t.rank_barrier();
    gate.open();
    waited(t, r.stream);
    round.expect();
}
BOTH("order.after_end_on_stream", authority::A, (needs{GROUP, E::xccl_all_reduce, a_gate}), so_many_ranks({2, 1}),
     check_after_end)

// Outside of a group a call needs no end.
void check_single(Test& t) {
    const Ready r(t);
    constexpr uint64_t size = 2049;
    const DeviceBuffer& buffer = t.rank() == 0 ? device_with(t, tagged(3, 0, 1, size)) : t.device(size, t.dev);
    t.ok(t.rank() == 0 ? t.api.xccl_send(buffer.ptr, size, HAL_U8, 1, r.comm, r.stream)
                       : t.api.xccl_recv(buffer.ptr, size, HAL_U8, 0, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, buffer, tagged(3, 0, 1, size), "a message outside of any group");
}
BOTH("norm.single_outside_group_issued", authority::D, (needs{PAIR}), so_many_ranks({2}), check_single)

}  // namespace
}  // namespace hal::conformance

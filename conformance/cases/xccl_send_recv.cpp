// Table 10: messages between two ranks. Each case stands under the ids of both entries.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

#define PAIR comm_io(), E::xccl_send, E::xccl_recv
#define GROUPED PAIR, E::xccl_group_start, E::xccl_group_end

#define BOTH(tail, rights, list, count, check)                                                                   \
    HAL_CASE("45079.T10.xccl_send." tail, clauses{"45079/T10.12"}, rights, list, count, cls::medium)(Test & t) { \
        check(t);                                                                                                \
    }                                                                                                            \
    HAL_CASE("45079.T10.xccl_recv." tail, clauses{"45079/T10.13"}, rights, list, count, cls::medium)(Test & t) { \
        check(t);                                                                                                \
    }

// From one rank to another; the rest look on.
void pass(Test& t, const Ready& r, int from, int to, uint64_t size) {
    const Bytes data = tagged(size, from, to, size);
    if (t.rank() == from) {
        const DeviceBuffer& source = device_with(t, data);
        t.ok(t.api.xccl_send(source.ptr, size, HAL_U8, to, r.comm, r.stream), "xccl_send");
        waited(t, r.stream);
        expect_bytes(t, source, data, "the source after the message");
    } else if (t.rank() == to) {
        const DeviceBuffer& target = t.device(size, t.dev);
        t.ok(t.api.xccl_recv(target.ptr, size, HAL_U8, from, r.comm, r.stream), "xccl_recv");
        waited(t, r.stream);
        expect_bytes(t, target, data, "the message");
    }
}

void check_pair(Test& t) {
    const Ready r(t);
    for (const uint64_t size : {1, 63, 4097, 1'000'003}) {
        const auto in = t.context("size", size);
        pass(t, r, 0, 1, size);
        pass(t, r, 1, 0, size);
    }
}
BOTH("norm.pair", authority::S, (needs{PAIR}), so_many_ranks({2, 3}), check_pair)

void check_each_peer(Test& t) {
    const Ready r(t);
    for (int from = 0; from < t.ranks(); ++from) {
        for (int to = 0; to < t.ranks(); ++to) {
            if (from != to) {
                pass(t, r, from, to, 1021);
            }
        }
    }
}
BOTH("norm.each_peer", authority::S, (needs{PAIR}), so_many_ranks({3, 4}), check_each_peer)

// Messages of one pair arrive in the order in which they were sent, each in full.
void check_ordered(Test& t) {
    const Ready r(t);
    std::vector<std::pair<const DeviceBuffer*, Bytes>> all;
    for (int i = 0; i < 50; ++i) {
        const auto size = static_cast<uint64_t>(3000 - 59 * i);
        const Bytes data = tagged(4, i, 0, size);
        const DeviceBuffer& buffer = t.rank() == 0 ? device_with(t, data) : t.device(size, t.dev);
        t.ok(t.rank() == 0 ? t.api.xccl_send(buffer.ptr, size, HAL_U8, 1, r.comm, r.stream)
                           : t.api.xccl_recv(buffer.ptr, size, HAL_U8, 0, r.comm, r.stream));
        all.emplace_back(&buffer, data);
    }
    waited(t, r.stream);
    for (const auto& [buffer, data] : all) {
        expect_bytes(t, *buffer, data, "a message in its turn");
    }
}
BOTH("norm.ordered_same_pair", authority::D, (needs{PAIR}), so_many_ranks({2}), check_ordered)

// Every rank to every rank, itself among them, in one group.
void check_all_pairs(Test& t) {
    const Ready r(t);
    std::vector<const DeviceBuffer*> targets;
    t.ok(t.api.xccl_group_start());
    for (int peer = 0; peer < t.ranks(); ++peer) {
        const auto size = static_cast<uint64_t>(1000 + peer + t.rank());
        const DeviceBuffer& source = device_with(t, tagged(5, t.rank(), peer, size));
        targets.push_back(&t.device(size, t.dev));
        t.ok(t.api.xccl_send(source.ptr, size, HAL_U8, peer, r.comm, r.stream), "xccl_send");
        t.ok(t.api.xccl_recv(targets.back()->ptr, size, HAL_U8, peer, r.comm, r.stream), "xccl_recv");
    }
    t.ok(t.api.xccl_group_end());
    waited(t, r.stream);
    for (int peer = 0; peer < t.ranks(); ++peer) {
        const DeviceBuffer& target = *targets[static_cast<size_t>(peer)];
        expect_bytes(t, target, tagged(5, peer, t.rank(), target.size), "the message of a peer");
    }
}
BOTH("norm.all_pairs", authority::D, (needs{GROUPED}), number_of_ranks(), check_all_pairs)

void check_self(Test& t) {
    const Ready r(t);
    const Bytes data = tagged(6, t.rank(), t.rank(), 3001);
    const DeviceBuffer& source = device_with(t, data);
    const DeviceBuffer& target = t.device(3001, t.dev);
    t.ok(t.api.xccl_group_start());
    t.ok(t.api.xccl_send(source.ptr, 3001, HAL_U8, t.rank(), r.comm, r.stream));
    t.ok(t.api.xccl_recv(target.ptr, 3001, HAL_U8, t.rank(), r.comm, r.stream));
    t.ok(t.api.xccl_group_end());
    waited(t, r.stream);
    expect_bytes(t, target, data, "a message to itself");
}
BOTH("norm.self", authority::A, (needs{GROUPED}), so_many_ranks({2, 1}), check_self)

// Both ways at once, on a stream for each.
void check_bidirectional(Test& t) {
    const Ready there(t);
    const Ready back(t);
    const int peer = 1 - t.rank();
    constexpr uint64_t size = 300'007;
    const DeviceBuffer& source = device_with(t, tagged(7, t.rank(), peer, size));
    const DeviceBuffer& target = t.device(size, t.dev);
    const Ready& out = t.rank() == 0 ? there : back;
    const Ready& in = t.rank() == 0 ? back : there;
    for (int i = 0; i < 10; ++i) {
        t.ok(t.api.xccl_send(source.ptr, size, HAL_U8, peer, out.comm, out.stream));
        t.ok(t.api.xccl_recv(target.ptr, size, HAL_U8, peer, in.comm, in.stream));
    }
    waited(t, out.stream);
    waited(t, in.stream);
    expect_bytes(t, target, tagged(7, peer, t.rank(), size), "the last message");
}
BOTH("conc.bidirectional", authority::D, (needs{PAIR}), so_many_ranks({2}), check_bidirectional)

// Nobody ever receives: the rank that sends is neither told OK before nor held beyond the limits.
HAL_CASE("45079.T10.xccl_recv.fault.unmatched_bounded", clauses{"45079/T10.13", "hal/9"}, authority::A,
         needs{PAIR, E::xccl_set_timeout}, so_many_ranks({2}), cls::medium)
(Test& t) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    if (t.rank() == 1 && comm != nullptr) {
        const DeviceBuffer& target = t.device(100, t.dev);
        t.ok(t.api.xccl_set_timeout(comm, 200'000'000));
        t.ok(t.api.xccl_recv(target.ptr, 100, HAL_U8, 0, comm, stream));
        expect_gives_up(t, comm, stream, "a message that nobody sends");
        t.expect(target, poison, "the buffer for it");
    }
    t.rank_barrier();
}

}  // namespace
}  // namespace hal::conformance

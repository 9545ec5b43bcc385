// Tables 10 and 110: what only one collective has to show.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// Short enough to be told to the other ranks.
std::string digest_of(const Bytes& bytes) {
    return std::to_string(case_seed(0, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

// ---- all_reduce ----

// Of data whose sum depends on the order too: all ranks have the same bits, whatever they are.
HAL_CASE("45079.T10.xccl_all_reduce.norm.identical_on_all_ranks", clauses{"45079/T10.5"}, authority::D,
         needs{comm_io(), E::xccl_all_reduce}, number_of_ranks(2), cls::medium)
(Test& t) {
    const Ready r(t);
    constexpr uint64_t count = 4001;
    std::vector<float> data(count);
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t random = mix(static_cast<uint64_t>(t.rank()) * count + i);
        data[i] = static_cast<float>(static_cast<double>(random >> 11U) * 0x1p-53 * static_cast<double>(1 + i % 997));
    }
    Bytes bytes(count * sizeof(float));
    std::memcpy(bytes.data(), data.data(), bytes.size());
    const DeviceBuffer& buffer = device_with(t, bytes);
    t.ok(t.api.xccl_all_reduce(buffer.ptr, buffer.ptr, count, HAL_F32, HAL_REDUCE_SUM, r.comm, r.stream));
    waited(t, r.stream);
    const std::string mine = digest_of(read_bytes(t, buffer));
    for (const std::string& other : t.exchange(mine)) {
        t.check(mine == other, "the same bits on every rank");
    }
    t.check(mine != digest_of(bytes), "the data were changed by a sum");
}

// The mean, of each type that has it: of multiples of the number of ranks, of which it is whole.
HAL_CASE("45079.T10.xccl_all_reduce.norm.avg", clauses{"45079/T10.5"}, authority::D,
         needs{comm_io(), E::xccl_all_reduce}, number_of_ranks(), cls::medium)
(Test& t) {
    const Ready r(t);
    for (const Reduction& reduction : reductions(t, HAL_COLL_ALL_REDUCE)) {
        if (reduction.op == HAL_REDUCE_AVG) {
            const auto in = t.context("dtype", reduction.type.dtype);
            Shape shape;
            shape.reduction = reduction;
            shape.count = 501;
            run_round(t, collective_of("xccl_all_reduce"), shape, r.comm, r.stream);
        }
    }
    t.check(r.comm != nullptr, "a communicator");
}

// What is not supported is refused as that, and writes nothing.
HAL_CASE("45079.T10.xccl_all_reduce.norm.unsupported_combo_refused", clauses{"45079/T10.5"}, authority::A,
         needs{comm_io(), E::xccl_all_reduce, E::xccl_supported}, cls::medium)
(Test& t) {
    const Ready r(t);
    const DeviceBuffer& send = t.device(1024, t.dev);
    const DeviceBuffer& recv = t.device(1024, t.dev);
    for (const hal_dtype type :
         {HAL_F32, HAL_F16, HAL_I8, HAL_I64, HAL_BOOL, HAL_C64, HAL_C128, HAL_F8E5M2, HAL_F8E4M3FN, HAL_F4E2M1}) {
        for (hal_reduce_op op = HAL_REDUCE_SUM; op <= HAL_REDUCE_BXOR; ++op) {
            const auto in_type = t.context("dtype", type);
            const auto in_op = t.context("op", op);
            if (t.api.xccl_supported(HAL_COLL_ALL_REDUCE, type, op) == HAL_ERROR_UNSUPPORTED) {
                t.fails(HAL_ERROR_UNSUPPORTED,
                        [&] { return t.api.xccl_all_reduce(send.ptr, recv.ptr, 16, type, op, r.comm, r.stream); });
            } else {
                t.ok(t.api.xccl_supported(HAL_COLL_ALL_REDUCE, type, op), "OK or UNSUPPORTED");
            }
        }
    }
    waited(t, r.stream);
    t.expect(recv, poison, "the buffer after the refusals");
}

// ---- broadcast and reduce: who writes what ----

HAL_CASE("45079.T10.xccl_broadcast.norm.nonroot_fully_written", clauses{"45079/T10.6"}, authority::S,
         needs{comm_io(), E::xccl_broadcast}, number_of_ranks(2), cls::medium)
(Test& t) {
    const Ready r(t);
    const Bytes data = tagged(8, 0, 0, 100'003);
    const DeviceBuffer& recv = t.device(data.size(), t.dev);
    // Only the root has anything to send.
    const hal_dptr send = t.rank() == 0 ? device_with(t, data).ptr : hal_dptr{0};
    t.ok(t.api.xccl_broadcast(send, recv.ptr, data.size(), HAL_U8, 0, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, recv, data, "the root's data");
}

HAL_CASE("45079.T10.xccl_broadcast.norm.root_source_unchanged", clauses{"45079/T10.6"}, authority::D,
         needs{comm_io(), E::xccl_broadcast}, so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const Ready r(t);
    const Bytes data = tagged(9, 1, 0, 5003);
    const DeviceBuffer& send = device_with(t, data);
    const DeviceBuffer& recv = t.device(data.size(), t.dev);
    t.ok(t.api.xccl_broadcast(send.ptr, recv.ptr, data.size(), HAL_U8, 1, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, send, data, "the source after the broadcast");
    expect_bytes(t, recv, data, "the result");
}

HAL_CASE("45079.T10.xccl_reduce.norm.nonroot_recv_untouched", clauses{"45079/T10.7"}, authority::D,
         needs{comm_io(), E::xccl_reduce}, number_of_ranks(2), cls::medium)
(Test& t) {
    const Ready r(t);
    for (int root = 0; root < t.ranks(); ++root) {
        Shape shape;
        shape.count = 2003;
        shape.root = root;
        run_round(t, collective_of("xccl_reduce"), shape, r.comm, r.stream);
    }
}

HAL_CASE("45079.T10.xccl_reduce.norm.nonroot_null_recv", clauses{"45079/T10.7"}, authority::A,
         needs{comm_io(), E::xccl_reduce}, so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const Ready r(t);
    const Reduction sum{element_of(HAL_F32), HAL_REDUCE_SUM};
    const DeviceBuffer& send = device_with(t, given(sum, t.ranks(), t.rank(), 999, 10));
    const DeviceBuffer& recv = t.device(send.size, t.dev);
    const hal_dptr target = t.rank() == 0 ? recv.ptr : hal_dptr{0};
    t.ok(t.api.xccl_reduce(send.ptr, target, 999, HAL_F32, HAL_REDUCE_SUM, 0, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, recv, t.rank() == 0 ? reduced(sum, t.ranks(), 999, 10) : Bytes(), "the buffer of this rank");
}

// ---- all_gather, reduce_scatter, alltoall: which block where ----

// One element a rank, whose value is the rank.
HAL_CASE("45079.T10.xccl_all_gather.norm.slots_by_rank", clauses{"45079/T10.8"}, authority::S,
         needs{comm_io(), E::xccl_all_gather}, number_of_ranks(), cls::medium)
(Test& t) {
    const Ready r(t);
    Bytes all;
    for (int rank = 0; rank < t.ranks(); ++rank) {
        all.push_back(static_cast<uint8_t>(1 + rank));
    }
    const DeviceBuffer& send = device_with(t, {static_cast<uint8_t>(1 + t.rank())});
    const DeviceBuffer& recv = t.device(all.size(), t.dev);
    t.ok(t.api.xccl_all_gather(send.ptr, recv.ptr, 1, HAL_U8, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, recv, all, "a slot for each rank, in order");
}

#define SLICES(tail, rights)                                                                               \
    HAL_CASE("45079.T10.xccl_reduce_scatter.norm." tail, clauses{"45079/T10.9"}, rights,                   \
             needs{comm_io(), E::xccl_reduce_scatter, E::xccl_all_reduce}, number_of_ranks(), cls::medium) \
    (Test & t)

SLICES("slice_by_rank", authority::S) {
    const Ready r(t);
    const auto n = static_cast<size_t>(t.ranks());
    Bytes send;
    for (size_t block = 0; block < n; ++block) {
        send.push_back(static_cast<uint8_t>(block + 1));
    }
    const DeviceBuffer& source = device_with(t, send);
    const DeviceBuffer& target = t.device(1, t.dev);
    t.ok(t.api.xccl_reduce_scatter(source.ptr, target.ptr, 1, HAL_U8, HAL_REDUCE_SUM, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, target, {static_cast<uint8_t>(t.ranks() * (t.rank() + 1))}, "the slice of this rank");
}

SLICES("equals_allreduce_slice", authority::D) {
    const Ready r(t);
    const auto n = static_cast<uint64_t>(t.ranks());
    constexpr uint64_t count = 1001;
    const Reduction sum{element_of(HAL_F32), HAL_REDUCE_SUM};
    const DeviceBuffer& source = device_with(t, given(sum, t.ranks(), t.rank(), count * n, 11));
    const DeviceBuffer& slice = t.device(count * 4, t.dev);
    const DeviceBuffer& whole = t.device(count * 4 * n, t.dev);
    t.ok(t.api.xccl_reduce_scatter(source.ptr, slice.ptr, count, HAL_F32, HAL_REDUCE_SUM, r.comm, r.stream));
    t.ok(t.api.xccl_all_reduce(source.ptr, whole.ptr, count * n, HAL_F32, HAL_REDUCE_SUM, r.comm, r.stream));
    waited(t, r.stream);
    const Bytes all = read_bytes(t, whole);
    const auto at = static_cast<ptrdiff_t>(count * 4 * static_cast<uint64_t>(t.rank()));
    expect_bytes(t, slice, Bytes(all.begin() + at, all.begin() + at + static_cast<ptrdiff_t>(count * 4)),
                 "the slice of the all-reduce");
    expect_bytes(t, whole, reduced(sum, t.ranks(), count * n, 11), "the all-reduce");
}

SLICES("count_is_per_rank_recv", authority::D) {
    const Ready r(t);
    for (const std::string_view name : {"i8", "i16", "f32", "f64"}) {
        const Reduction sum{element_of(name), HAL_REDUCE_SUM};
        if (takes(t, HAL_COLL_REDUCE_SCATTER, sum.type.dtype, sum.op)) {
            Shape shape;
            shape.reduction = sum;
            shape.count = 37;
            run_round(t, collective_of("xccl_reduce_scatter"), shape, r.comm, r.stream);
        }
    }
    t.check(r.comm != nullptr, "a communicator");
}

// One byte for each pair: (from, to).
HAL_CASE("45079.T10.xccl_alltoall.norm.block_matrix", clauses{"45079/T10.18"}, authority::S,
         needs{comm_io(), E::xccl_alltoall}, number_of_ranks(), cls::medium)
(Test& t) {
    const Ready r(t);
    const auto tag = [](int from, int to) { return static_cast<uint8_t>(from * 16 + to + 1); };
    Bytes row;
    Bytes column;
    for (int peer = 0; peer < t.ranks(); ++peer) {
        row.push_back(tag(t.rank(), peer));
        column.push_back(tag(peer, t.rank()));
    }
    const DeviceBuffer& source = device_with(t, row);
    const DeviceBuffer& target = t.device(column.size(), t.dev);
    t.ok(t.api.xccl_alltoall(source.ptr, target.ptr, 1, HAL_U8, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, target, column, "the column of the matrix");
    expect_bytes(t, source, row, "the source after it");
}

HAL_CASE("45079.T10.xccl_alltoall.norm.twice_is_identity", clauses{"45079/T10.18"}, authority::D,
         needs{comm_io(), E::xccl_alltoall}, number_of_ranks(2), cls::medium)
(Test& t) {
    const Ready r(t);
    const Bytes data = tagged(12, t.rank(), 0, 1003 * static_cast<uint64_t>(t.ranks()));
    const DeviceBuffer& source = device_with(t, data);
    const DeviceBuffer& middle = t.device(data.size(), t.dev);
    const DeviceBuffer& target = t.device(data.size(), t.dev);
    t.ok(t.api.xccl_alltoall(source.ptr, middle.ptr, 1003, HAL_U8, r.comm, r.stream));
    t.ok(t.api.xccl_alltoall(middle.ptr, target.ptr, 1003, HAL_U8, r.comm, r.stream));
    waited(t, r.stream);
    expect_bytes(t, target, data, "transposed twice");
    t.check(read_bytes(t, middle) != data, "and changed in between");
}

HAL_CASE("45079.T10.xccl_alltoall.norm.equals_grouped_send_recv", clauses{"45079/T10.18"}, authority::D,
         needs{comm_io(), E::xccl_alltoall, E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end},
         so_many_ranks({3, 4}), cls::medium)
(Test& t) {
    const Ready r(t);
    constexpr uint64_t size = 511;
    const Bytes data = tagged(13, t.rank(), 0, size * static_cast<uint64_t>(t.ranks()));
    const DeviceBuffer& source = device_with(t, data);
    const DeviceBuffer& target = t.device(data.size(), t.dev);
    const DeviceBuffer& grouped = t.device(data.size(), t.dev);
    t.ok(t.api.xccl_alltoall(source.ptr, target.ptr, size, HAL_U8, r.comm, r.stream));
    t.ok(t.api.xccl_group_start());
    for (int peer = 0; peer < t.ranks(); ++peer) {
        const uint64_t at = size * static_cast<uint64_t>(peer);
        t.ok(t.api.xccl_send(source.ptr + at, size, HAL_U8, peer, r.comm, r.stream));
        t.ok(t.api.xccl_recv(grouped.ptr + at, size, HAL_U8, peer, r.comm, r.stream));
    }
    t.ok(t.api.xccl_group_end());
    waited(t, r.stream);
    expect_bytes(t, target, read_bytes(t, grouped), "what messages make of the same data");
}

}  // namespace
}  // namespace hal::conformance

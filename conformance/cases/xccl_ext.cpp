// Table 110, ours: support query, uneven blocks, scaled sums, split, time limits, errors in the background, abort.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

hal_status wait_for(Test& t, hal_stream stream) {
    const auto limit = static_cast<uint64_t>(std::chrono::nanoseconds(t.limits.finish).count());
    return t.api.synchronize_stream(t.dev, stream, limit);
}

#define EXT(entry, tail, rights, list, ...) \
    HAL_CASE("hal.xccl_ext." #entry "." tail, clauses{"hal/9"}, rights, list, __VA_ARGS__)(Test & t)

// ---- xccl_supported ----

// At least the sum that every framework uses; the same answer each time; what is no collective, type or operation is
// not supported.
EXT(xccl_supported, "norm.answers", authority::A, (needs{E::xccl_supported}), cls::fast) {
    for (const hal_collective one : {HAL_COLL_ALL_REDUCE, HAL_COLL_REDUCE, HAL_COLL_REDUCE_SCATTER}) {
        t.ok(t.api.xccl_supported(one, HAL_F32, HAL_REDUCE_SUM), "a sum of f32");
    }
    for (hal_collective one = HAL_COLL_ALL_REDUCE; one <= HAL_COLL_BARRIER; ++one) {
        const hal_status first = t.api.xccl_supported(one, HAL_I8, HAL_REDUCE_MAX);
        t.check(first == HAL_OK || first == HAL_ERROR_UNSUPPORTED, "OK or UNSUPPORTED");
        t.eq(first, t.api.xccl_supported(one, HAL_I8, HAL_REDUCE_MAX), "the same again");
    }
}
EXT(xccl_supported, "err.unknown", authority::A, (needs{E::xccl_supported}), cls::fast) {
    t.fails(HAL_ERROR_UNSUPPORTED,
            [&] { return t.api.xccl_supported(HAL_COLL_ALL_REDUCE, HAL_DTYPE(77, 32, 1), HAL_REDUCE_SUM); });
    t.fails(HAL_ERROR_UNSUPPORTED, [&] { return t.api.xccl_supported(HAL_COLL_ALL_REDUCE, HAL_F32, 77); });
    t.fails_any({HAL_ERROR_UNSUPPORTED, HAL_ERROR_INVALID_ARGUMENT},
                [&] { return t.api.xccl_supported(77, HAL_F32, HAL_REDUCE_SUM); });
}

// ---- xccl_alltoallv ----

// Rank i sends i + j + 1 elements to rank j, none where i + j is a multiple of three; blocks lie apart and not in
// order.
struct Uneven {
    explicit Uneven(const Test& t) : ranks(t.ranks()), rank(t.rank()) {
        for (int peer = 0; peer < ranks; ++peer) {
            send_counts.push_back(count(rank, peer));
            recv_counts.push_back(count(peer, rank));
            send_at.push_back(room * static_cast<uint64_t>(ranks - 1 - peer));
            recv_at.push_back(room * static_cast<uint64_t>(peer) + 2);
        }
    }
    [[nodiscard]] static uint64_t count(int from, int to) {
        return (from + to) % 3 == 0 ? 0 : static_cast<uint64_t>(from + to + 1);
    }
    static constexpr uint64_t room = 20;
    int ranks;
    int rank;
    std::vector<uint64_t> send_counts, recv_counts, send_at, recv_at;
};

EXT(xccl_alltoallv, "norm.uneven", authority::A, (needs{comm_io(), E::xccl_alltoallv}), number_of_ranks(),
    cls::medium) {
    const Ready r(t);
    Uneven u(t);
    const uint64_t bytes = 4 * Uneven::room * static_cast<uint64_t>(u.ranks + 1);
    const DeviceBuffer& send = t.device(bytes, t.dev);
    const DeviceBuffer& recv = t.device(bytes, t.dev);
    Bytes expected(bytes, poison);
    for (size_t peer = 0; peer < u.send_at.size(); ++peer) {
        const auto other = static_cast<int>(peer);
        write_bytes(t, send, tagged(20, u.rank, other, 4 * u.send_counts[peer]), 4 * u.send_at[peer]);
        const Bytes block = tagged(20, other, u.rank, 4 * u.recv_counts[peer]);
        std::copy(block.begin(), block.end(), expected.begin() + static_cast<ptrdiff_t>(4 * u.recv_at[peer]));
    }
    t.ok(t.api.xccl_alltoallv(send.ptr, u.send_counts.data(), u.send_at.data(), recv.ptr, u.recv_counts.data(),
                              u.recv_at.data(), HAL_I32, r.comm, r.stream));
    for (auto* list : {&u.send_counts, &u.recv_counts, &u.send_at, &u.recv_at}) {
        std::fill(list->begin(), list->end(), UINT64_MAX);  // they were copied
    }
    waited(t, r.stream);
    expect_bytes(t, recv, expected, "blocks of every size, and nothing between them");
}

EXT(xccl_alltoallv, "err.null_counts", authority::A, (needs{comm_io(), E::xccl_alltoallv}), cls::fast) {
    const Ready r(t);
    const DeviceBuffer& buffer = t.device(64, t.dev);
    const uint64_t one = 1;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] {
        return t.api.xccl_alltoallv(buffer.ptr, nullptr, &one, buffer.ptr, &one, &one, HAL_U8, r.comm, r.stream);
    });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] {
        return t.api.xccl_alltoallv(buffer.ptr, &one, &one, buffer.ptr, &one, nullptr, HAL_U8, r.comm, r.stream);
    });
}

// ---- xccl_all_reduce_premul ----

template <class T>
void check_premul(Test& t, const Ready& r, hal_dtype dtype, T scalar) {
    std::vector<T> data(1003);
    std::vector<T> sum(data.size());
    for (size_t i = 0; i < data.size(); ++i) {
        for (int rank = 0; rank < t.ranks(); ++rank) {
            const T one = static_cast<T>(static_cast<int>(mix(i * 16 + static_cast<uint64_t>(rank)) % 201) - 100);
            data[i] = rank == t.rank() ? one : data[i];
            const auto scaled = static_cast<T>(scalar * one);  // -0 of one rank alone stays -0
            sum[i] = rank == 0 ? scaled : static_cast<T>(sum[i] + scaled);
        }
    }
    Bytes bytes(data.size() * sizeof(T));
    Bytes expected(bytes.size());
    std::memcpy(bytes.data(), data.data(), bytes.size());
    std::memcpy(expected.data(), sum.data(), bytes.size());
    const DeviceBuffer& send = device_with(t, bytes);
    const DeviceBuffer& recv = t.device(bytes.size(), t.dev);
    T* const copied = &t.keep<T>(scalar);
    t.ok(t.api.xccl_all_reduce_premul(send.ptr, recv.ptr, data.size(), dtype, copied, r.comm, r.stream));
    *copied = T{77};  // it was copied
    waited(t, r.stream);
    expect_bytes(t, recv, expected, "the scaled sum");
    expect_bytes(t, send, bytes, "the source after it");
}

EXT(xccl_all_reduce_premul, "num.exact", authority::A, (needs{comm_io(), E::xccl_all_reduce_premul}), number_of_ranks(),
    cls::medium) {
    const Ready r(t);
    check_premul<float>(t, r, HAL_F32, 0.5F);
    if (takes(t, HAL_COLL_ALL_REDUCE, HAL_F64, HAL_REDUCE_PREMUL_SUM)) {
        check_premul<double>(t, r, HAL_F64, -4.0);
    }
    if (takes(t, HAL_COLL_ALL_REDUCE, HAL_I32, HAL_REDUCE_PREMUL_SUM)) {
        check_premul<int32_t>(t, r, HAL_I32, 3);
    }
}
EXT(xccl_all_reduce_premul, "err.null_scalar", authority::A, (needs{comm_io(), E::xccl_all_reduce_premul}), cls::fast) {
    const Ready r(t);
    const DeviceBuffer& buffer = t.device(64, t.dev);
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] {
        return t.api.xccl_all_reduce_premul(buffer.ptr, buffer.ptr, 1, HAL_F32, nullptr, r.comm, r.stream);
    });
}

// ---- xccl_split ----

// Even and odd ranks apart, the last rank nowhere; keys turn the order round.
EXT(xccl_split, "norm.colors_and_keys", authority::A,
    (needs{comm_io(), E::xccl_split, E::xccl_get_comm_rank, E::xccl_get_comm_size, E::xccl_all_reduce}),
    so_many_ranks({4, 3, 5, 8}), cls::medium) {
    const Ready r(t);
    const int last = t.ranks() - 1;
    const int color = t.rank() == last ? -1 : t.rank() % 2;
    auto* part = reinterpret_cast<hal_comm>(0x77);
    t.ok(t.api.xccl_split(r.comm, color, -t.rank(), &part));
    if (color < 0) {
        t.check(part == nullptr, "no communicator for color -1");
        return;
    }
    (void)t.keep_comm(part);
    int size = 0;
    int place = 0;
    for (int rank = 0; rank < last; ++rank) {
        size += rank % 2 == color ? 1 : 0;
        place += rank % 2 == color && rank > t.rank() ? 1 : 0;
    }
    int32_t got_rank = -1;
    int32_t got_size = -1;
    t.ok(t.api.xccl_get_comm_rank(part, &got_rank));
    t.ok(t.api.xccl_get_comm_size(part, &got_size));
    t.eq(place, got_rank, "rank in the part, by key");
    t.eq(size, got_size, "size of the part");
    Shape shape;
    shape.count = 300;
    Round round(t, collective_of("xccl_all_reduce"), shape, size, place);
    t.ok(round.call(part, r.stream));
    waited(t, r.stream);
    round.expect();
}
EXT(xccl_split, "err.refusals", authority::A, (needs{comm_io(), E::xccl_split}), cls::fast) {
    const Ready r(t);
    hal_comm part = nullptr;
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_split(nullptr, 0, 0, &part); });
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.xccl_split(r.comm, 0, 0, nullptr); });
}

// ---- xccl_set_timeout, xccl_get_async_error ----

EXT(xccl_set_timeout, "norm.gives_up", authority::A, (needs{comm_io(), E::xccl_set_timeout, E::xccl_all_reduce}),
    so_many_ranks({2, 3}), cls::medium) {
    const Ready r(t);
    if (t.rank() == 0 && r.comm != nullptr) {
        const DeviceBuffer& buffer = t.device(400, t.dev);
        t.ok(t.api.xccl_set_timeout(r.comm, 300'000'000));
        const auto begin = std::chrono::steady_clock::now();
        t.ok(t.api.xccl_all_reduce(buffer.ptr, buffer.ptr, 100, HAL_F32, HAL_REDUCE_SUM, r.comm, r.stream));
        expect_gives_up(t, r.comm, r.stream, "a collective for which nobody comes");
        t.check(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(300), "not before the limit");
    }
    t.rank_barrier();
}
EXT(xccl_set_timeout, "err.null_comm", authority::A, (needs{E::xccl_set_timeout}), cls::fast) {
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_set_timeout(nullptr, 1); });
}

// OK as long as all is well, whatever is pending; after a failure what the stream says too, each time.
EXT(xccl_get_async_error, "norm.first_error", authority::A,
    (needs{comm_io(), E::xccl_get_async_error, E::xccl_set_timeout, E::xccl_all_reduce}), so_many_ranks({2}),
    cls::medium) {
    const Ready r(t);
    t.ok(t.api.xccl_get_async_error(r.comm), "before any work");
    Shape shape;
    shape.count = 100;
    run_round(t, collective_of("xccl_all_reduce"), shape, r.comm, r.stream);
    t.ok(t.api.xccl_get_async_error(r.comm), "after work that succeeded");
    if (t.rank() == 0) {
        const DeviceBuffer& buffer = t.device(400, t.dev);
        t.ok(t.api.xccl_set_timeout(r.comm, 100'000'000));
        t.ok(t.api.xccl_all_reduce(buffer.ptr, buffer.ptr, 100, HAL_F32, HAL_REDUCE_SUM, r.comm, r.stream));
        expect_gives_up(t, r.comm, r.stream, "a collective for which nobody comes");
        const hal_status first = t.api.xccl_get_async_error(r.comm);
        for (int i = 0; i < 3; ++i) {
            t.check(first < 0 && first == t.api.xccl_get_async_error(r.comm), "the first error, each time");
        }
    }
    t.rank_barrier();
}
EXT(xccl_get_async_error, "err.null_comm", authority::A, (needs{E::xccl_get_async_error}), cls::fast) {
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_get_async_error(nullptr); });
}

// ---- xccl_abort, xccl_finalize ----

// A collective for which the other rank never comes is given up: the call returns, the stream goes on with ABORTED.
EXT(xccl_abort, "fault.abort_pending", authority::A, (needs{comm_io(), E::xccl_abort, E::xccl_all_reduce}),
    so_many_ranks({2, 3}), cls::medium) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    if (t.rank() == 0 && comm != nullptr) {
        const DeviceBuffer& buffer = t.device(400, t.dev);
        t.ok(t.api.xccl_all_reduce(buffer.ptr, buffer.ptr, 100, HAL_F32, HAL_REDUCE_SUM, comm, stream));
        Helper abort([&] { return t.api.xccl_abort(comm); });
        t.check(abort.returned_within(t.limits.finish), "abort returns");
        t.ok(abort.status(), "xccl_abort from another thread");
        t.eq(HAL_ERROR_ABORTED, wait_for(t, stream), "the stream");
        t.ok(t.api.xccl_abort(comm), "a second time");
        const Pattern pattern = t.pattern();
        t.expect(t.device(pattern, 999, t.dev), pattern, "the device after it");
    }
    t.rank_barrier();
}
EXT(xccl_abort, "norm.nothing_pending", authority::A, (needs{comm_io(), E::xccl_abort, E::xccl_all_reduce}),
    so_many_ranks({2}), cls::medium) {
    const Ready aborted(t);
    const Ready other(t);
    t.ok(t.api.xccl_abort(aborted.comm));
    const DeviceBuffer& buffer = t.device(400, t.dev);
    t.check(t.api.xccl_all_reduce(buffer.ptr, buffer.ptr, 100, HAL_F32, HAL_REDUCE_SUM, aborted.comm, aborted.stream) !=
                    HAL_OK ||
                wait_for(t, aborted.stream) == HAL_ERROR_ABORTED,
            "work after it is refused or aborted");
    Shape shape;
    shape.count = 50;
    run_round(t, collective_of("xccl_all_reduce"), shape, other.comm, other.stream);
}
EXT(xccl_abort, "err.null_comm", authority::A, (needs{E::xccl_abort}), cls::fast) {
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_abort(nullptr); });
}

EXT(xccl_finalize, "norm.completes_work", authority::A, (needs{comm_io(), E::xccl_finalize, E::xccl_all_reduce}),
    so_many_ranks({2, 3}), cls::medium) {
    const Ready r(t);
    Shape shape;
    shape.count = 50'001;
    Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());
    t.ok(round.call(r.comm, r.stream));
    t.ok(t.api.xccl_finalize(r.comm));
    round.expect();
}
EXT(xccl_finalize, "err.null_comm", authority::A, (needs{E::xccl_finalize}), cls::fast) {
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_finalize(nullptr); });
}

}  // namespace
}  // namespace hal::conformance

// Table 10: ranks that do not call the same. What comes of it is not judged: it ends, nothing is written beyond what
// the larger call may write, and who did nothing wrong is not hurt.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

constexpr uint64_t count = 4001;

struct Wrong {
    hal_dptr send;
    hal_dptr recv;
    hal_comm comm;
    hal_stream stream;
};

// `room` is for the larger call. The first call that is refused ends the rank's part.
void check_mismatch(Test& t, uint64_t room, const std::function<hal_status(const Wrong&)>& calls) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    const DeviceBuffer& send = t.device(room, t.dev);
    const DeviceBuffer& recv = t.device(room, t.dev);
    if (comm == nullptr) {
        return;
    }
    // The communicator gives up a silent peer in half of this.
    const auto limit = std::chrono::nanoseconds(t.limits.finish);
    const auto begin = std::chrono::steady_clock::now();
    const hal_status called = calls({send.ptr, recv.ptr, comm, stream});
    t.check(called <= HAL_OK, "the call succeeds or fails");
    const hal_status got = t.api.synchronize_stream(t.dev, stream, static_cast<uint64_t>(limit.count()));
    const bool ended = std::chrono::steady_clock::now() - begin < limit;
    t.check(ended, "the stream ends of itself");
    if (!ended && t.api.xccl_abort) {
        (void)t.api.xccl_abort(comm);
    }
    if (got != HAL_OK) {
        recover(t, stream);
    }
    t.rank_barrier();  // no rank is at work any more
    expect_slice(t, recv, {}, "what lies around the result", 0);
    expect_slice(t, send, Bytes(send.size, poison), "the source", 0);
    Shape shape;
    shape.count = 100;
    run_round(t, collective_of("xccl_all_reduce"), shape, t.communicator(), t.stream(t.dev));
}

#define MISMATCH(entry, row, tail, room, ...)                                                                  \
    HAL_CASE("45079.T10." #entry ".fault.mismatched_" tail, clauses{"45079/T10." #row, "hal/9"}, authority::Q, \
             needs{comm_io(), E::entry, E::xccl_all_reduce, E::xccl_broadcast, E::xccl_set_timeout},           \
             so_many_ranks({2}), cls::medium)                                                                  \
    (Test & t) {                                                                                               \
        [[maybe_unused]] const bool first = t.rank() == 0;                                                     \
        check_mismatch(t, room, [&](const Wrong& w) { return __VA_ARGS__; });                                  \
    }

MISMATCH(xccl_all_reduce, 5, "count", count * 4,
         t.api.xccl_all_reduce(w.send, w.recv, first ? count : count / 3, HAL_F32, HAL_REDUCE_SUM, w.comm, w.stream))
MISMATCH(xccl_all_reduce, 5, "dtype", count * 8,
         t.api.xccl_all_reduce(w.send, w.recv, count, first ? HAL_F32 : HAL_F64, HAL_REDUCE_SUM, w.comm, w.stream))
MISMATCH(xccl_broadcast, 6, "root", count * 4,
         t.api.xccl_broadcast(w.send, w.recv, count, HAL_F32, t.rank(), w.comm, w.stream))

// Both call the same two, each in an order of its own.
hal_status both(Test& t, const Wrong& w, bool reduce_first) {
    const auto reduce = [&] {
        return t.api.xccl_all_reduce(w.send, w.recv, count, HAL_F32, HAL_REDUCE_SUM, w.comm, w.stream);
    };
    const auto broadcast = [&] { return t.api.xccl_broadcast(w.send, w.recv, count, HAL_F32, 0, w.comm, w.stream); };
    const hal_status status = reduce_first ? reduce() : broadcast();
    return status != HAL_OK ? status : reduce_first ? broadcast() : reduce();
}
MISMATCH(xccl_all_reduce, 5, "order", count * 4, both(t, w, first))

}  // namespace
}  // namespace hal::conformance

// Tables 10 and 110: what is refused. One rank is enough: a call that is refused waits for nobody.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

constexpr std::initializer_list<hal_status> no_such_memory{HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_INVALID_HANDLE};
constexpr std::initializer_list<hal_status> no_such_comm{HAL_ERROR_INVALID_HANDLE, HAL_ERROR_INVALID_ARGUMENT};

// A call of one rank that would succeed, with one argument that makes it wrong. Both buffers stay as they are.
class Wrong {
  public:
    explicit Wrong(Test& t)
        : t_(t), send_(device_with(t, tagged(1, 0, 0, 4096))), recv_(t.device(4096, t.dev)), stream_(t.stream(t.dev)) {
        good_.send = send_.ptr;
        good_.recv = recv_.ptr;
        good_.count = 64;
        good_.comm = t.communicator();
        good_.stream = stream_;
    }
    Wrong(const Wrong&) = delete;
    Wrong& operator=(const Wrong&) = delete;

    void refused(std::initializer_list<hal_status> expected, const std::function<void(CollectiveCall&)>& spoil,
                 Where where = Where::here()) {
        CollectiveCall call = good_;
        spoil(call);
        t_.fails_any(
            expected, [&] { return collective_of(t_).call(t_, call); }, where);
    }
    // After the refusals: nothing was moved, and a right call works.
    void expect_unhurt() {
        waited(t_, stream_);
        t_.expect(recv_, poison, "the buffer after the refusals");
        Shape shape;
        shape.count = 33;
        run_round(t_, collective_of(t_), shape, good_.comm, stream_);
    }

  private:
    Test& t_;
    const DeviceBuffer& send_;
    const DeviceBuffer& recv_;
    hal_stream stream_;
    CollectiveCall good_;
};

void check_bad_dtype(Test& t) {
    Wrong wrong(t);
    for (const hal_dtype type : {hal_dtype{0}, HAL_DTYPE(77, 32, 1), HAL_DTYPE(2, 24, 1), ~hal_dtype{0}}) {
        wrong.refused({HAL_ERROR_UNSUPPORTED, HAL_ERROR_INVALID_ARGUMENT}, [&](CollectiveCall& c) { c.dtype = type; });
    }
    wrong.expect_unhurt();
}
void check_bad_op(Test& t) {
    Wrong wrong(t);
    for (const hal_reduce_op op : {0U, 77U, ~0U}) {
        wrong.refused({HAL_ERROR_UNSUPPORTED, HAL_ERROR_INVALID_ARGUMENT}, [&](CollectiveCall& c) { c.op = op; });
    }
    wrong.expect_unhurt();
}
void check_bad_root(Test& t) {
    Wrong wrong(t);
    for (const int root : {-1, 1, INT32_MAX, INT32_MIN}) {
        wrong.refused({HAL_ERROR_INVALID_ARGUMENT}, [&](CollectiveCall& c) { c.root = root; });
    }
    wrong.expect_unhurt();
}
void check_null_comm(Test& t) {
    Wrong wrong(t);
    wrong.refused(no_such_comm, [&](CollectiveCall& c) { c.comm = nullptr; });
    wrong.expect_unhurt();
}
// No address, one of the host, and a block that ends before the data do.
void check_bad_buffer(Test& t) {
    Wrong wrong(t);
    static int on_the_host = 0;
    const auto host = reinterpret_cast<hal_dptr>(&on_the_host);
    wrong.refused(no_such_memory, [&](CollectiveCall& c) { c.send = 0; });
    wrong.refused(no_such_memory, [&](CollectiveCall& c) { c.recv = 0; });
    wrong.refused(no_such_memory, [&](CollectiveCall& c) { c.recv = host; });
    wrong.refused(no_such_memory, [&](CollectiveCall& c) { c.count = 1U << 20U; });
    wrong.refused(no_such_memory, [&](CollectiveCall& c) { c.count = UINT64_MAX / 4 + 2; });
    wrong.expect_unhurt();
}

#define REFUSES(id, clause, tail, check, ...)                                                           \
    HAL_CASE(id ".err." tail, clauses{clause}, authority::A, needs{comm_io(), __VA_ARGS__})(Test & t) { \
        check(t);                                                                                       \
    }
#define EACH(id, clause, ...)                                      \
    REFUSES(id, clause, "bad_dtype", check_bad_dtype, __VA_ARGS__) \
    REFUSES(id, clause, "null_comm", check_null_comm, __VA_ARGS__) \
    REFUSES(id, clause, "null_buffer", check_bad_buffer, __VA_ARGS__)
#define REDUCES(id, clause, ...) REFUSES(id, clause, "bad_op", check_bad_op, __VA_ARGS__)
#define ROOTED(id, clause, ...) REFUSES(id, clause, "bad_root", check_bad_root, __VA_ARGS__)

EACH("45079.T10.xccl_all_reduce", "45079/T10.5", E::xccl_all_reduce)
REDUCES("45079.T10.xccl_all_reduce", "45079/T10.5", E::xccl_all_reduce)
EACH("45079.T10.xccl_broadcast", "45079/T10.6", E::xccl_broadcast)
ROOTED("45079.T10.xccl_broadcast", "45079/T10.6", E::xccl_broadcast)
EACH("45079.T10.xccl_reduce", "45079/T10.7", E::xccl_reduce)
REDUCES("45079.T10.xccl_reduce", "45079/T10.7", E::xccl_reduce)
ROOTED("45079.T10.xccl_reduce", "45079/T10.7", E::xccl_reduce)
EACH("45079.T10.xccl_all_gather", "45079/T10.8", E::xccl_all_gather)
EACH("45079.T10.xccl_reduce_scatter", "45079/T10.9", E::xccl_reduce_scatter)
REDUCES("45079.T10.xccl_reduce_scatter", "45079/T10.9", E::xccl_reduce_scatter)
EACH("45079.T10.xccl_alltoall", "45079/T10.18", E::xccl_alltoall)
EACH("hal.xccl_ext.xccl_alltoallv", "hal/9", E::xccl_alltoallv)
EACH("hal.xccl_ext.xccl_gather", "hal/9", E::xccl_gather)
ROOTED("hal.xccl_ext.xccl_gather", "hal/9", E::xccl_gather)
EACH("hal.xccl_ext.xccl_scatter", "hal/9", E::xccl_scatter)
ROOTED("hal.xccl_ext.xccl_scatter", "hal/9", E::xccl_scatter)

// ---- Messages: outside of a group, where a refusal is the call's own ----

using Message = std::function<hal_status(hal_dptr, uint64_t, hal_dtype, int32_t, hal_comm, hal_stream)>;

void check_message(Test& t, const Message& message) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    const DeviceBuffer& buffer = t.device(256, t.dev);
    for (const int32_t peer : {-1, 1, INT32_MAX, INT32_MIN}) {
        const auto in = t.context("peer", static_cast<uint64_t>(peer));
        t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return message(buffer.ptr, 64, HAL_U8, peer, comm, stream); });
    }
    t.expect(buffer, poison, "the buffer after the refusals");
}
void check_message_arguments(Test& t, const Message& message) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    const DeviceBuffer& buffer = t.device(256, t.dev);
    t.fails_any({HAL_ERROR_UNSUPPORTED, HAL_ERROR_INVALID_ARGUMENT},
                [&] { return message(buffer.ptr, 64, HAL_DTYPE(77, 32, 1), 0, comm, stream); });
    t.fails_any(no_such_comm, [&] { return message(buffer.ptr, 64, HAL_U8, 0, nullptr, stream); });
    t.fails_any(no_such_memory, [&] { return message(0, 64, HAL_U8, 0, comm, stream); });
    t.fails_any(no_such_memory, [&] { return message(buffer.ptr, UINT64_MAX / 2, HAL_I32, 0, comm, stream); });
    t.expect(buffer, poison, "the buffer after the refusals");
}

#define MESSAGE(row, entry)                                                                        \
    HAL_CASE("45079.T10." #entry ".err.bad_peer", clauses{"45079/T10." #row}, authority::A,        \
             needs{comm_io(), E::entry})                                                           \
    (Test & t) {                                                                                   \
        check_message(t, [&t](auto... arguments) { return t.api.entry(arguments...); });           \
    }                                                                                              \
    HAL_CASE("45079.T10." #entry ".err.bad_arguments", clauses{"45079/T10." #row}, authority::A,   \
             needs{comm_io(), E::entry})                                                           \
    (Test & t) {                                                                                   \
        check_message_arguments(t, [&t](auto... arguments) { return t.api.entry(arguments...); }); \
    }

MESSAGE(12, xccl_send)
MESSAGE(13, xccl_recv)

// ---- Making and destroying ----

#define INIT(tail)                                                                                              \
    HAL_CASE("45079.T10.xccl_comm_init_rank.err." tail, clauses{"45079/T10.3"}, authority::A, needs{comm_io()}) \
    (Test & t)

hal_status init(Test& t, hal_dev dev, int32_t ranks, const std::string& id, int32_t rank, hal_comm* comm) {
    return t.api.xccl_comm_init_rank(dev, ranks, id.data(), id.size(), rank, comm);
}

// The output keeps what it held, or becomes NULL.
void refused(Test& t, std::initializer_list<hal_status> expected, hal_dev dev, int32_t ranks, const std::string& id,
             int32_t rank, Where where = Where::here()) {
    auto* const before = reinterpret_cast<hal_comm>(0x77);
    hal_comm comm = before;
    t.fails_any(
        expected, [&] { return init(t, dev, ranks, id, rank, &comm); }, where);
    t.check(comm == before || comm == nullptr, "no communicator after a refusal", where);
}

INIT("rank_ge_size") {
    const std::string id = t.unique_id();
    for (const auto& [ranks, rank] : {std::pair(1, 1), std::pair(2, 2), std::pair(2, -1), std::pair(4, INT32_MAX)}) {
        refused(t, {HAL_ERROR_INVALID_ARGUMENT}, 0, ranks, id, rank);
    }
}
INIT("size_0") {
    const std::string id = t.unique_id();
    for (const int ranks : {0, -1, INT32_MIN}) {
        refused(t, {HAL_ERROR_INVALID_ARGUMENT}, 0, ranks, id, 0);
    }
}
INIT("wrong_id_bytes") {
    const std::string id = t.unique_id();
    for (const std::string& wrong : {id.substr(0, id.size() - 1), id + "x", std::string()}) {
        refused(t, {HAL_ERROR_INVALID_ARGUMENT, HAL_ERROR_BUFFER_TOO_SMALL}, 0, 1, wrong, 0);
    }
}
INIT("null_id") {
    const uint64_t size = t.unique_id().size();
    hal_comm comm = nullptr;
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return t.api.xccl_comm_init_rank(0, 1, nullptr, size, 0, &comm); });
}
INIT("null_out") {
    const std::string id = t.unique_id();
    t.fails(HAL_ERROR_INVALID_ARGUMENT, [&] { return init(t, 0, 1, id, 0, nullptr); });
}
HAL_CASE("45079.T10.xccl_comm_init_rank.err.bad_device", clauses{"45079/T10.3"}, authority::A, needs{comm_io()},
         bad_devices())
(Test& t) {
    refused(t, {HAL_ERROR_INVALID_DEVICE}, t.bad_device(), 1, t.unique_id(), 0);
}

HAL_CASE("45079.T10.xccl_destroy_comm.err.null", clauses{"45079/T10.4"}, authority::A, needs{E::xccl_destroy_comm})
(Test& t) {
    t.fails(HAL_ERROR_INVALID_HANDLE, [&] { return t.api.xccl_destroy_comm(nullptr); });
}

}  // namespace
}  // namespace hal::conformance

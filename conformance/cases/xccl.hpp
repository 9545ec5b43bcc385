// What the cases of table 10 share: data of which every rank can compute what every rank is to get, the collectives as
// values, and one run of one of them with all its checks.
#pragma once

#include <optional>

#include "harness/test.hpp"
#include "numbers/element.hpp"

namespace hal::conformance {

using Bytes = std::vector<uint8_t>;

// Communicators, memory, and a wait for a stream.
[[nodiscard]] const NeedGroup& comm_io();

// ---- Types and operations ----

// What xccl_supported says; without it f32 and i32 with SUM.
[[nodiscard]] bool takes(Test& t, hal_collective collective, hal_dtype dtype, hal_reduce_op op);

struct Reduction {
    Element type;
    hal_reduce_op op;
};
// Those that the collective takes and the suite can compute.
[[nodiscard]] std::vector<Reduction> reductions(Test& t, hal_collective collective);
// A type of each size that the collective carries.
[[nodiscard]] std::vector<hal_dtype> carried_types(Test& t, hal_collective collective);
[[nodiscard]] uint64_t bytes_of(hal_dtype dtype);

// ---- Data ----

// What the rank gives to a reduction: exact whatever the order, so that the result is known bit for bit.
[[nodiscard]] Bytes given(const Reduction& reduction, int ranks, int rank, uint64_t count, uint64_t seed);
// What all of them give, reduced.
[[nodiscard]] Bytes reduced(const Reduction& reduction, int ranks, uint64_t count, uint64_t seed);
// Data that says where it comes from.
[[nodiscard]] Bytes tagged(uint64_t seed, int from, int to, uint64_t size);

// ---- Memory ----

[[nodiscard]] DeviceBuffer& device_with(Test& t, const Bytes& bytes, Where where = Where::here());
void write_bytes(Test& t, const DeviceBuffer& buffer, const Bytes& bytes, uint64_t at = 0, Where where = Where::here());
// Bytes and guards of all of the buffer, of which these lie at `at`; what is around them keeps its poison.
bool expect_bytes(Test& t, const DeviceBuffer& buffer, const Bytes& bytes, std::string_view what, uint64_t at = 0,
                  Where where = Where::here());
// Only these bytes, and the guards.
bool expect_slice(Test& t, const DeviceBuffer& buffer, const Bytes& bytes, std::string_view what, uint64_t at,
                  Where where = Where::here());
[[nodiscard]] Bytes read_bytes(Test& t, const DeviceBuffer& buffer, Where where = Where::here());

// ---- Collectives ----

struct CollectiveCall {
    hal_dptr send = 0;
    hal_dptr recv = 0;
    uint64_t count = 0;
    hal_dtype dtype = HAL_F32;
    hal_reduce_op op = HAL_REDUCE_SUM;
    int root = 0;
    int ranks = 1;
    int rank = 0;
    hal_comm comm = nullptr;
    hal_stream stream = nullptr;
};

struct Collective {
    hal_collective kind = 0;
    bool reduces = false;
    bool rooted = false;
    std::function<hal_status(Test&, const CollectiveCall&)> call;
    // Blocks of count elements in either buffer.
    std::function<int(int ranks)> sends;
    std::function<int(int ranks)> receives;
    // The blocks that a rank gets, as (from, block); nothing where its buffer stays as it is. Of a reduction `from` is
    // any, and the block is reduced over all ranks.
    std::function<std::vector<std::pair<int, int>>(int ranks, int rank, int root)> gets;
    // What "in place" means: the same buffer, the own block of the receive buffer is sent, or the result goes to the
    // own block of the send buffer.
    enum class Place : uint8_t { none, same, own_of_recv, own_of_send } place = Place::none;
};
// By the name of its entry.
[[nodiscard]] const Collective& collective_of(std::string_view entry);
[[nodiscard]] const Collective& collective_of(const Test& t);  // of the case's own entry

enum class Memory {
    device,
    unified,   // of unified_memory_allocate
    imported,  // the next rank's, by memory_ipc_import
};
struct Shape {
    Reduction reduction{element_of(HAL_F32), HAL_REDUCE_SUM};
    std::optional<hal_dtype> carried;  // instead of the reduction's type, where nothing is reduced
    uint64_t count = 1;
    int root = 0;
    bool in_place = false;
    uint64_t offset = 0;  // elements, in both buffers
    Memory memory = Memory::device;
};

// One call with data of its own: what it needs in memory, and what it must leave there.
class Round {
  public:
    Round(Test& t, const Collective& collective, const Shape& shape, int ranks, int rank, Where where = Where::here());
    Round(const Round&) = delete;
    Round& operator=(const Round&) = delete;

    [[nodiscard]] hal_status call(hal_comm comm, hal_stream stream);
    // After the stream was waited for: result, source, guards.
    void expect();
    void expect_source();
    [[nodiscard]] const DeviceBuffer& result() const { return *recv_; }
    [[nodiscard]] const DeviceBuffer& source() const { return *send_; }
    void release();

  private:
    [[nodiscard]] Bytes block_of(int from, int block) const;
    [[nodiscard]] Bytes result_bytes() const;
    [[nodiscard]] bool near(const Bytes& expected) const;
    void make_buffers();
    [[nodiscard]] DeviceBuffer* make_buffer(uint64_t size);
    void make_unified(DeviceBuffer& buffer, uint64_t size);
    void make_imported(DeviceBuffer& buffer, uint64_t size);

    Test& test_;
    const Collective& collective_;
    Shape shape_;
    int ranks_;
    int rank_;
    uint64_t seed_;
    uint64_t element_;
    Where where_;
    std::deque<DeviceBuffer> other_;   // what the test does not keep
    std::vector<DeviceBuffer*> lent_;  // to the rank before
    Bytes given_;
    Collective::Place place_ = Collective::Place::none;
    DeviceBuffer* send_ = nullptr;
    DeviceBuffer* recv_ = nullptr;
    uint64_t send_at_ = 0;  // bytes
    uint64_t recv_at_ = 0;
};

// What most cases of one collective begin with.
struct Ready {
    explicit Ready(Test& t) : comm(t.communicator()), stream(t.stream(t.dev)) {}
    hal_comm comm;
    hal_stream stream;
};

// One round on the communicator of all ranks, waited for and checked.
void run_round(Test& t, const Collective& collective, const Shape& shape, hal_comm comm, hal_stream stream,
               Where where = Where::here());
// For work that cannot succeed: waits for it, which must fail with REMOTE, TIMEOUT or ABORTED of itself, before the
// wait gives up, and the communicator says the same; then the stream works again.
void expect_gives_up(Test& t, hal_comm comm, hal_stream stream, std::string_view what, Where where = Where::here());
// A stream that has failed on purpose: what waits for the device would be told its error. Works again, or is gone.
void recover(Test& t, hal_stream stream, Where where = Where::here());
// Waits; one check.
bool waited(Test& t, hal_stream stream, Where where = Where::here());

}  // namespace hal::conformance

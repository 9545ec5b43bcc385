// Tables 10 and 110: collectives on memory of the device that is of another kind: unified memory, which the host may
// look at, and memory of another process.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// Small data and large ones, which may take another way; and in place.
void check_memory(Test& t, Memory memory) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    for (const uint64_t count : {33, 40'003}) {
        for (const bool in_place : {false, true}) {
            if (comm != nullptr) {
                const auto in = t.context("count", count);
                Shape shape;
                shape.count = count;
                shape.in_place = in_place;
                shape.memory = memory;
                run_round(t, collective_of(t), shape, comm, stream);
            }
        }
    }
}

#define MESSAGES E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end
#define UNIFIED(id, clause, ...)                                                                      \
    HAL_CASE(id ".norm.unified_memory", clauses{clause}, authority::A,                                \
             needs{comm_io(), E::unified_memory_allocate, E::unified_memory_deallocate, __VA_ARGS__}, \
             so_many_ranks({2, 3}), cls::medium)                                                      \
    (Test & t) {                                                                                      \
        check_memory(t, Memory::unified);                                                             \
    }
// Those in which all ranks have the same buffers, and so lend as many as they borrow.
#define BOTH_KINDS(id, clause, ...)                                                                          \
    UNIFIED(id, clause, __VA_ARGS__)                                                                         \
    HAL_CASE(id ".norm.imported_memory", clauses{clause}, authority::A,                                      \
             needs{comm_io(), E::memory_ipc_export, E::memory_ipc_import, E::memory_ipc_close, __VA_ARGS__}, \
             so_many_ranks({2, 3}), cls::medium)                                                             \
    (Test & t) {                                                                                             \
        check_memory(t, Memory::imported);                                                                   \
    }

BOTH_KINDS("45079.T10.xccl_all_reduce", "45079/T10.5", E::xccl_all_reduce)
UNIFIED("45079.T10.xccl_broadcast", "45079/T10.6", E::xccl_broadcast)
UNIFIED("45079.T10.xccl_reduce", "45079/T10.7", E::xccl_reduce)
BOTH_KINDS("45079.T10.xccl_all_gather", "45079/T10.8", E::xccl_all_gather)
BOTH_KINDS("45079.T10.xccl_reduce_scatter", "45079/T10.9", E::xccl_reduce_scatter)
BOTH_KINDS("45079.T10.xccl_send", "45079/T10.12", MESSAGES)
BOTH_KINDS("45079.T10.xccl_recv", "45079/T10.13", MESSAGES)
BOTH_KINDS("45079.T10.xccl_alltoall", "45079/T10.18", E::xccl_alltoall)

}  // namespace
}  // namespace hal::conformance

// Tables 10 and 110: collectives on unified memory, which is memory of the device that the host may look at.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// Small data and large ones, which may take another way; and in place.
void check_unified(Test& t) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    for (const uint64_t count : {33, 40'003}) {
        for (const bool in_place : {false, true}) {
            if (comm != nullptr) {
                const auto in = t.context("count", count);
                Shape shape;
                shape.count = count;
                shape.in_place = in_place;
                shape.unified = true;
                run_round(t, collective_of(t), shape, comm, stream);
            }
        }
    }
}

#define UNIFIED(id, clause, ...)                                                                      \
    HAL_CASE(id ".norm.unified_memory", clauses{clause}, authority::A,                                \
             needs{comm_io(), E::unified_memory_allocate, E::unified_memory_deallocate, __VA_ARGS__}, \
             so_many_ranks({2, 3}), cls::medium)                                                      \
    (Test & t) {                                                                                      \
        check_unified(t);                                                                             \
    }
#define MESSAGES E::xccl_send, E::xccl_recv, E::xccl_group_start, E::xccl_group_end

UNIFIED("45079.T10.xccl_all_reduce", "45079/T10.5", E::xccl_all_reduce)
UNIFIED("45079.T10.xccl_broadcast", "45079/T10.6", E::xccl_broadcast)
UNIFIED("45079.T10.xccl_reduce", "45079/T10.7", E::xccl_reduce)
UNIFIED("45079.T10.xccl_all_gather", "45079/T10.8", E::xccl_all_gather)
UNIFIED("45079.T10.xccl_reduce_scatter", "45079/T10.9", E::xccl_reduce_scatter)
UNIFIED("45079.T10.xccl_send", "45079/T10.12", MESSAGES)
UNIFIED("45079.T10.xccl_recv", "45079/T10.13", MESSAGES)
UNIFIED("45079.T10.xccl_alltoall", "45079/T10.18", E::xccl_alltoall)

}  // namespace
}  // namespace hal::conformance

// Table 10: before initialize and after the last finalize there are no collectives. What takes a communicator is given
// NULL, because none is alive then; a back end whose collectives begin with initialize must not look for them.
#include "before_init.hpp"

namespace hal::conformance {
namespace {

char bytes[HAL_MAX_UNIQUE_ID_BYTES];

hal_status make_id(const Api& api) {
    uint64_t size = 0;
    const hal_status told = api.xccl_get_unique_id_size(&size);
    return told == HAL_OK ? api.xccl_get_unique_id(bytes, size) : told;
}
// With an id that is good, so that only one thing is wrong.
RawCall make_comm(Test& t) {
    return [id = t.unique_id()](const Api& api) {
        hal_comm comm = nullptr;
        return api.xccl_comm_init_rank(0, 1, id.data(), id.size(), 0, &comm);
    };
}
// Groups are the thread's: one that was begun here would hold what the thread calls next.
hal_status make_group(const Api& api) {
    const hal_status started = api.xccl_group_start();
    return started == HAL_OK ? api.xccl_group_end() : started;
}
hal_status version(const Api& api) {
    hal_version version{{sizeof(hal_version), 0, nullptr}, 0, 0, 0, 0, {}};
    return api.xccl_get_version(&version);
}
hal_status size_of_id(const Api& api) {
    uint64_t size = 0;
    return api.xccl_get_unique_id_size(&size);
}

#define UNINITIALIZED(row, entry, call, rule, ...)                                                \
    HAL_CASE("45079.T10." #entry ".err.before_init", clauses{"45079/T10." #row}, authority::A,    \
             needs{E::entry, E::initialize, E::finalize, __VA_ARGS__})                            \
    (Test & t) {                                                                                  \
        check_before_init(t, call, rule);                                                         \
    }                                                                                             \
    HAL_CASE("45079.T10." #entry ".err.after_finalize", clauses{"45079/T10." #row}, authority::A, \
             needs{E::entry, E::initialize, E::finalize, __VA_ARGS__})                            \
    (Test & t) {                                                                                  \
        check_after_finalize(t, call, rule);                                                      \
    }
#define WITHOUT_COMM(row, entry, ...) \
    UNINITIALIZED(                    \
        row, entry, [](const Api& api) { return api.entry(__VA_ARGS__); }, Rule::no_object)

UNINITIALIZED(1, xccl_get_unique_id, &make_id, Rule::may_answer, E::xccl_get_unique_id_size)
UNINITIALIZED(2, xccl_get_unique_id_size, &size_of_id, Rule::may_answer)
UNINITIALIZED(3, xccl_comm_init_rank, make_comm(t), Rule::refuses, E::xccl_get_unique_id_size, E::xccl_get_unique_id)
UNINITIALIZED(10, xccl_group_start, &make_group, Rule::may_answer, E::xccl_group_end)
UNINITIALIZED(14, xccl_get_version, &version, Rule::may_answer)

int32_t number = 0;
hal_comm no_comm = nullptr;

WITHOUT_COMM(4, xccl_destroy_comm, no_comm)
WITHOUT_COMM(5, xccl_all_reduce, 0, 0, 1, HAL_F32, HAL_REDUCE_SUM, no_comm, nullptr)
WITHOUT_COMM(6, xccl_broadcast, 0, 0, 1, HAL_F32, 0, no_comm, nullptr)
WITHOUT_COMM(7, xccl_reduce, 0, 0, 1, HAL_F32, HAL_REDUCE_SUM, 0, no_comm, nullptr)
WITHOUT_COMM(8, xccl_all_gather, 0, 0, 1, HAL_F32, no_comm, nullptr)
WITHOUT_COMM(9, xccl_reduce_scatter, 0, 0, 1, HAL_F32, HAL_REDUCE_SUM, no_comm, nullptr)
WITHOUT_COMM(11, xccl_group_end)
WITHOUT_COMM(12, xccl_send, 0, 1, HAL_F32, 0, no_comm, nullptr)
WITHOUT_COMM(13, xccl_recv, 0, 1, HAL_F32, 0, no_comm, nullptr)
WITHOUT_COMM(15, xccl_get_comm_rank, no_comm, &number)
WITHOUT_COMM(16, xccl_get_comm_size, no_comm, &number)
WITHOUT_COMM(17, xccl_barrier, no_comm, nullptr)
WITHOUT_COMM(18, xccl_alltoall, 0, 0, 1, HAL_F32, no_comm, nullptr)

}  // namespace
}  // namespace hal::conformance

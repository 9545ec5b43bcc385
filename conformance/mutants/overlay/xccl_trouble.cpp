// Mutants of table 10: what goes wrong only where something is unusual: a null stream, unified memory, ranks that
// differ or die, a process that has no more to give, many collectives one behind the other.
#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "xccl.hpp"

namespace hal::mutants {

// ---- Before initialize, and with nothing left ----

// What is not initialised has no communicator, and says nothing.
void xccl_early_ok(Plugin& plugin) {
    plugin.xccl.xccl_comm_init_rank = [](hal_instance* self, hal_dev device, int32_t count, const void* id,
                                         uint64_t size, int32_t rank, hal_comm* out) -> hal_status {
        const hal_status status = base.xccl.xccl_comm_init_rank(self, device, count, id, size, rank, out);
        return status == HAL_ERROR_NOT_INITIALIZED ? HAL_OK : status;
    };
}

// For want of descriptors or memory the communicator is NULL, and nothing is said of it.
void xccl_exhausted_ok(Plugin& plugin) {
    plugin.xccl.xccl_comm_init_rank = [](hal_instance* self, hal_dev device, int32_t count, const void* id,
                                         uint64_t size, int32_t rank, hal_comm* out) -> hal_status {
        const hal_status status = base.xccl.xccl_comm_init_rank(self, device, count, id, size, rank, out);
        return status == HAL_ERROR_OUT_OF_RESOURCES || status == HAL_ERROR_OUT_OF_HOST_MEMORY ? HAL_OK : status;
    };
}

// ---- Streams and memory ----

void xccl_null_stream_refused(Plugin& plugin) {
    plugin.xccl.xccl_all_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        return stream == nullptr && comm != nullptr
                   ? refuse(self, HAL_ERROR_INVALID_HANDLE, "a collective needs a stream of its own")
                   : base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
    };
}

namespace {
std::mutex others_mutex;
std::map<hal_dptr, uint64_t> others;  // sizes of memory of other kinds

void note_other(hal_dptr address, uint64_t size) {
    const std::lock_guard lock(others_mutex);
    others[address] = size;
}
bool is_other(hal_dptr address) {
    const std::lock_guard lock(others_mutex);
    const auto above = others.upper_bound(address);
    return above != others.begin() && address - std::prev(above)->first < std::prev(above)->second;
}
hal_status reduce_own_only(hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                           hal_reduce_op op, hal_comm comm, hal_stream stream) {
    return is_other(send) || is_other(recv)
               ? refuse(self, HAL_ERROR_INVALID_ARGUMENT, "no memory of this device")
               : base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
}
}  // namespace
// Only what device_memory_allocate gave is taken for memory of the device.
void xccl_unified_refused(Plugin& plugin) {
    plugin.memory.unified_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.unified_memory_allocate(self, device, size, out);
        if (status == HAL_OK) {
            note_other(*out, size);
        }
        return status;
    };
    plugin.xccl.xccl_all_reduce = reduce_own_only;
}
void xccl_imported_refused(Plugin& plugin) {
    plugin.memory_ext.memory_ipc_import = [](hal_instance* self, hal_dev device, const hal_ipc_handle* handle,
                                             hal_dptr* out) {
        const hal_status status = base.memory_ext.memory_ipc_import(self, device, handle, out);
        if (status == HAL_OK) {
            note_other(*out, uint64_t{1} << 20U);
        }
        return status;
    };
    plugin.xccl.xccl_all_reduce = reduce_own_only;
}

// ---- Ranks that do not call the same ----

namespace {
std::mutex lanes_mutex;
std::map<hal_comm, std::array<hal_comm, 3>> lanes;

hal_comm lane_of(hal_comm comm, size_t lane) {
    const std::lock_guard lock(lanes_mutex);
    const auto found = lanes.find(comm);
    return found == lanes.end() ? comm : found->second[lane];
}
void abort_lanes(hal_instance* self, hal_comm comm) {
    for (size_t lane = 0; lane < 3; ++lane) {
        (void)base.xccl_ext.xccl_abort(self, lane_of(comm, lane));
    }
}
}  // namespace
// Calls of each kind travel in a lane of their own, without any limit of time: ranks that differ wait for each other.
void xccl_mismatch_waits(Plugin& plugin) {
    plugin.xccl.xccl_comm_init_rank = [](hal_instance* self, hal_dev device, int32_t count, const void* id,
                                         uint64_t size, int32_t rank, hal_comm* out) {
        const hal_status status = base.xccl.xccl_comm_init_rank(self, device, count, id, size, rank, out);
        if (status == HAL_OK) {
            std::array<hal_comm, 3> made{};
            for (hal_comm& lane : made) {
                (void)base.xccl_ext.xccl_split(self, *out, 0, rank, &lane);
            }
            const std::lock_guard lock(lanes_mutex);
            lanes[*out] = made;
        }
        return status;
    };
    plugin.xccl.xccl_all_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        const hal_comm lane = type == HAL_F64 ? lane_of(comm, 0) : comm;
        return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, lane, stream);
    };
    plugin.xccl.xccl_broadcast = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                    int32_t root, hal_comm comm, hal_stream stream) {
        const hal_comm lane = lane_of(comm, root == 0 ? 1 : 2);
        return base.xccl.xccl_broadcast(self, send, recv, count, type, root, lane, stream);
    };
    plugin.xccl_ext.xccl_set_timeout = [](hal_instance*, hal_comm, uint64_t) -> hal_status { return HAL_OK; };
    plugin.xccl_ext.xccl_abort = [](hal_instance* self, hal_comm comm) {
        abort_lanes(self, comm);
        return base.xccl_ext.xccl_abort(self, comm);
    };
    plugin.xccl.xccl_destroy_comm = [](hal_instance* self, hal_comm comm) {
        for (size_t lane = 0; lane < 3; ++lane) {
            const hal_comm one = lane_of(comm, lane);
            (void)(one == comm ? HAL_OK : base.xccl.xccl_destroy_comm(self, one));
        }
        const hal_status status = base.xccl.xccl_destroy_comm(self, comm);
        const std::lock_guard lock(lanes_mutex);
        lanes.erase(comm);
        return status;
    };
}

// ---- Traffic ----

namespace {
std::atomic<int32_t> last_root{0};
}
// A plan that is kept from the collective before: a broadcast takes the root of the reduction, gather or scatter before
// it. A broadcast behind a broadcast is right.
void xccl_root_of_before(Plugin& plugin) {
    plugin.xccl.xccl_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                 hal_reduce_op op, int32_t root, hal_comm comm, hal_stream stream) {
        last_root = root;
        return base.xccl.xccl_reduce(self, send, recv, count, type, op, root, comm, stream);
    };
    plugin.xccl_ext.xccl_gather = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     int32_t root, hal_comm comm, hal_stream stream) {
        last_root = root;
        return base.xccl_ext.xccl_gather(self, send, recv, count, type, root, comm, stream);
    };
    plugin.xccl_ext.xccl_scatter = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                      int32_t root, hal_comm comm, hal_stream stream) {
        last_root = root;
        return base.xccl_ext.xccl_scatter(self, send, recv, count, type, root, comm, stream);
    };
    plugin.xccl.xccl_broadcast = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                    int32_t root, hal_comm comm, hal_stream stream) {
        const int32_t kept = last_root.exchange(-1);
        return base.xccl.xccl_broadcast(self, send, recv, count, type, kept < 0 ? root : kept, comm, stream);
    };
    last_root = -1;
}

namespace {
hal_status unless_remote(hal_status status) {
    return status == HAL_ERROR_REMOTE ? HAL_OK : status;
}
}  // namespace
// What fails because a rank died counts as done.
void xccl_death_unnoticed(Plugin& plugin) {
    plugin.xccl.xccl_all_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        return unless_remote(base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream));
    };
    plugin.xccl.xccl_alltoall = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                   hal_comm comm, hal_stream stream) {
        return unless_remote(base.xccl.xccl_alltoall(self, send, recv, count, type, comm, stream));
    };
    plugin.stream.synchronize_stream = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t timeout_ns) {
        return unless_remote(base.stream.synchronize_stream(self, device, stream, timeout_ns));
    };
}

}  // namespace hal::mutants

// Mutants of table 10: collectives that move the wrong data.
#include "xccl.hpp"

namespace hal::mutants {

// ---- all_reduce ----

namespace {
using AllReduce = decltype(base.xccl.xccl_all_reduce);
void replace_all_reduce(Plugin& plugin, AllReduce by) {
    with_places(plugin);
    plugin.xccl.xccl_all_reduce = by;
}
}  // namespace

#define ALL_REDUCE                                                                                           \
    [[maybe_unused]] hal_instance *self, [[maybe_unused]] hal_dptr send, [[maybe_unused]] hal_dptr recv,     \
        [[maybe_unused]] uint64_t count, [[maybe_unused]] hal_dtype type, [[maybe_unused]] hal_reduce_op op, \
        [[maybe_unused]] hal_comm comm, [[maybe_unused]] hal_stream stream

void xccl_ar_drop_last(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        return base.xccl.xccl_all_reduce(self, send, recv, count == 0 ? 0 : count - 1, type, op, comm, stream);
    });
}

void xccl_ar_shift(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const uint64_t less = count == 0 ? 0 : count - 1;
        return base.xccl.xccl_all_reduce(self, send + (less == 0 ? 0 : bytes_of(type)), recv, less == 0 ? count : less,
                                         type, op, comm, stream);
    });
}

// The last rank gives nothing but zeros.
void xccl_ar_missing_rank(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const Place place = place_of(self, comm);
        if (place.ranks < 2 || place.rank != place.ranks - 1) {
            return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        }
        const Scratch zeros(self, place.device, stream, count * bytes_of(type));
        (void)base.memory_ext.async_memory_set(self, place.device, stream, zeros.ptr(), 0, count * bytes_of(type));
        return base.xccl.xccl_all_reduce(self, zeros.ptr(), recv, count, type, op, comm, stream);
    });
}

// The last rank gives what rank 0 gives.
void xccl_ar_rank_twice(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const Place place = place_of(self, comm);
        if (place.ranks < 2) {
            return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        }
        const Scratch first(self, place.device, stream, count * bytes_of(type));
        const hal_status status = base.xccl.xccl_broadcast(self, send, first.ptr(), count, type, 0, comm, stream);
        const bool last = place.rank == place.ranks - 1;
        return status != HAL_OK
                   ? status
                   : base.xccl.xccl_all_reduce(self, last ? first.ptr() : send, recv, count, type, op, comm, stream);
    });
}

// Of several ranks the result is reduced once more.
void xccl_ar_gain(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const hal_status status = base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        return status != HAL_OK ? status : base.xccl.xccl_all_reduce(self, recv, recv, count, type, op, comm, stream);
    });
}

void xccl_ar_zero(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const hal_status status = base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        const uint64_t bytes = count * bytes_of(type);
        return status != HAL_OK || bytes == 0
                   ? status
                   : base.memory_ext.async_memory_set(self, place_of(self, comm).device, stream, recv, 0, bytes);
    });
}

// Nothing comes from the other ranks.
void xccl_ar_own(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const hal_status status = base.xccl.xccl_all_reduce(self, send, recv, 0, type, op, comm, stream);
        const uint64_t bytes = count * bytes_of(type);
        return status != HAL_OK || bytes == 0 || send == recv
                   ? status
                   : base.memory.async_memory_copy_d2d(self, place_of(self, comm).device, stream, recv, send, bytes);
    });
}

// A byte behind the result is touched, whatever comes of the call.
void xccl_ar_beyond(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        (void)base.memory.device_memory_set(self, place_of(self, comm).device, recv + count * bytes_of(type), 0, 1);
        return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
    });
}

void xccl_avg_as_sum(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        return base.xccl.xccl_all_reduce(self, send, recv, count, type, op == HAL_REDUCE_AVG ? HAL_REDUCE_SUM : op,
                                         comm, stream);
    });
}

void xccl_sum_as_avg(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        return base.xccl.xccl_all_reduce(self, send, recv, count, type, op == HAL_REDUCE_SUM ? HAL_REDUCE_AVG : op,
                                         comm, stream);
    });
}

void xccl_unsupported_as_int8(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const hal_status status = base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        return status != HAL_ERROR_UNSUPPORTED
                   ? status
                   : base.xccl.xccl_all_reduce(self, send, recv, count, HAL_I8, HAL_REDUCE_SUM, comm, stream);
    });
}

// Runs on the default stream, whatever stream it was given.
void xccl_ignores_stream(Plugin& plugin) {
    replace_all_reduce(
        plugin, [](ALL_REDUCE) { return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, nullptr); });
}

// Returns when the result is there.
void xccl_host_sync_only(Plugin& plugin) {
    replace_all_reduce(plugin, [](ALL_REDUCE) {
        const hal_status status = base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
        if (status == HAL_OK) {
            drain(self, place_of(self, comm).device, stream);
        }
        return status;
    });
}

// ---- broadcast, reduce ----

void xccl_bcast_bytes(Plugin& plugin) {
    plugin.xccl.xccl_broadcast = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                    int32_t root, hal_comm comm, hal_stream stream) {
        const bool known = bytes_of(type) != 0;
        return base.xccl.xccl_broadcast(self, send, recv, count, known ? HAL_U8 : type, root, comm, stream);
    };
}

void xccl_bcast_root0(Plugin& plugin) {
    plugin.xccl.xccl_broadcast = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                    int32_t, hal_comm comm, hal_stream stream) {
        return base.xccl.xccl_broadcast(self, send, recv, count, type, 0, comm, stream);
    };
}

void xccl_reduce_writes_nonroot(Plugin& plugin) {
    plugin.xccl.xccl_reduce = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                 hal_reduce_op op, int32_t, hal_comm comm, hal_stream stream) {
        return base.xccl.xccl_all_reduce(self, send, recv, count, type, op, comm, stream);
    };
}

// ---- all_gather, reduce_scatter, alltoall ----

// The first two slots are exchanged.
void xccl_gather_slot_swap(Plugin& plugin) {
    with_places(plugin);
    plugin.xccl.xccl_all_gather = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                     hal_comm comm, hal_stream stream) {
        const Place place = place_of(self, comm);
        const hal_status status = base.xccl.xccl_all_gather(self, send, recv, count, type, comm, stream);
        const uint64_t slot = count * bytes_of(type);
        if (status != HAL_OK || place.ranks < 2 || slot == 0) {
            return status;
        }
        const Scratch kept(self, place.device, stream, slot);
        const auto copy = base.memory.async_memory_copy_d2d;
        (void)copy(self, place.device, stream, kept.ptr(), recv, slot);
        (void)copy(self, place.device, stream, recv, recv + slot, slot);
        return copy(self, place.device, stream, recv + slot, kept.ptr(), slot);
    };
}

// The slice of the next rank.
void xccl_rs_wrong_slice(Plugin& plugin) {
    with_places(plugin);
    plugin.xccl.xccl_reduce_scatter = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count,
                                         hal_dtype type, hal_reduce_op op, hal_comm comm, hal_stream stream) {
        const Place place = place_of(self, comm);
        const uint64_t slice = count * bytes_of(type);
        const uint64_t all = count * static_cast<uint64_t>(place.ranks);
        if (place.ranks < 2 || slice == 0 || slice > (uint64_t{1} << 30U)) {
            return base.xccl.xccl_reduce_scatter(self, send, recv, count, type, op, comm, stream);
        }
        const Scratch whole(self, place.device, stream, all * bytes_of(type));
        const hal_status status = base.xccl.xccl_all_reduce(self, send, whole.ptr(), all, type, op, comm, stream);
        const uint64_t next = slice * static_cast<uint64_t>((place.rank + 1) % place.ranks);
        return status != HAL_OK
                   ? status
                   : base.memory.async_memory_copy_d2d(self, place.device, stream, recv, whole.ptr() + next, slice);
    };
}

// Each rank keeps its own row.
void xccl_a2a_transpose_missing(Plugin& plugin) {
    with_places(plugin);
    plugin.xccl.xccl_alltoall = [](hal_instance* self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype type,
                                   hal_comm comm, hal_stream stream) {
        const hal_status status = base.xccl.xccl_alltoall(self, send, recv, count, type, comm, stream);
        const Place place = place_of(self, comm);
        const uint64_t bytes = count * bytes_of(type) * static_cast<uint64_t>(place.ranks);
        return status != HAL_OK || bytes == 0
                   ? status
                   : base.memory.async_memory_copy_d2d(self, place.device, stream, recv, send, bytes);
    };
}

}  // namespace hal::mutants

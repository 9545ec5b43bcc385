// Tables 10 and 110 of a back end that has an Engine. Instance: `xccl::Engine& xccl()`; Early: what an entry may use
// before initialize (sdk.hpp says how an instance admits a call).
#pragma once

#include "device_answers.hpp"
#include "engine.hpp"
#include "hal/sdk.hpp"
#include "hal/tables.h"

namespace hal::xccl {

template <class Instance, class Early>
struct Entries {
    static hal_status get_unique_id(Instance& self, void* buffer, uint64_t size_bytes) {
        self.xccl().get_unique_id(buffer, size_bytes);
        return HAL_OK;
    }
    static hal_status get_unique_id_size(Early&, uint64_t* out_size_bytes) {
        sdk::require(out_size_bytes, "out_size_bytes") = unique_id_bytes;
        return HAL_OK;
    }
    static hal_status comm_init_rank(Instance& self, hal_dev device, int32_t rank_count, const void* id,
                                     uint64_t id_size_bytes, int32_t rank, hal_comm* out_comm) {
        self.xccl().comm_init_rank(device, rank_count, id, id_size_bytes, rank, out_comm);
        return HAL_OK;
    }
    static hal_status destroy_comm(Instance& self, hal_comm comm) {
        self.xccl().destroy_comm(comm);
        return HAL_OK;
    }

    static hal_status run(Instance& self, const Call& call, hal_dptr send, hal_dptr recv, hal_comm comm,
                          hal_stream stream, const void* scalar = nullptr) {
        self.xccl().collective(call, send, recv, scalar, comm, stream);
        return HAL_OK;
    }
    static hal_status all_reduce(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                                 hal_reduce_op op, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::all_reduce, dtype, op, -1, count}, send, recv, comm, stream);
    }
    static hal_status broadcast(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                                int32_t root, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::broadcast, dtype, 0, root, count}, send, recv, comm, stream);
    }
    static hal_status reduce(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                             hal_reduce_op op, int32_t root, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::reduce, dtype, op, root, count}, send, recv, comm, stream);
    }
    static hal_status all_gather(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                                 hal_comm comm, hal_stream stream) {
        return run(self, {Kind::all_gather, dtype, 0, -1, count}, send, recv, comm, stream);
    }
    static hal_status reduce_scatter(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                                     hal_reduce_op op, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::reduce_scatter, dtype, op, -1, count}, send, recv, comm, stream);
    }
    static hal_status barrier(Instance& self, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::barrier, 0, 0, -1, 0}, 0, 0, comm, stream);
    }
    static hal_status alltoall(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                               hal_comm comm, hal_stream stream) {
        return run(self, {Kind::alltoall, dtype, 0, -1, count}, send, recv, comm, stream);
    }
    static hal_status gather(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                             int32_t root, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::gather, dtype, 0, root, count}, send, recv, comm, stream);
    }
    static hal_status scatter(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                              int32_t root, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::scatter, dtype, 0, root, count}, send, recv, comm, stream);
    }
    static hal_status all_reduce_premul(Instance& self, hal_dptr send, hal_dptr recv, uint64_t count, hal_dtype dtype,
                                        const void* scalar, hal_comm comm, hal_stream stream) {
        return run(self, {Kind::all_reduce, dtype, HAL_REDUCE_PREMUL_SUM, -1, count}, send, recv, comm, stream, scalar);
    }

    static hal_status group_start(Instance& self) {
        self.xccl().group_start();
        return HAL_OK;
    }
    static hal_status group_end(Instance& self) {
        self.xccl().group_end();
        return HAL_OK;
    }
    static hal_status send(Instance& self, hal_dptr send, uint64_t count, hal_dtype dtype, int32_t peer, hal_comm comm,
                           hal_stream stream) {
        self.xccl().message(true, send, count, dtype, peer, comm, stream);
        return HAL_OK;
    }
    static hal_status recv(Instance& self, hal_dptr recv, uint64_t count, hal_dtype dtype, int32_t peer, hal_comm comm,
                           hal_stream stream) {
        self.xccl().message(false, recv, count, dtype, peer, comm, stream);
        return HAL_OK;
    }
    static hal_status get_version(Early&, hal_version* out_version) {
        return sdk::write_struct(shared::parse_version(HAL_XCCL_VERSION), out_version, "out_version");
    }
    static hal_status get_comm_rank(Instance& self, hal_comm comm, int32_t* out_rank) {
        sdk::require(out_rank, "out_rank") = self.xccl().rank_of(comm);
        return HAL_OK;
    }
    static hal_status get_comm_size(Instance& self, hal_comm comm, int32_t* out_size) {
        sdk::require(out_size, "out_size") = self.xccl().size_of(comm);
        return HAL_OK;
    }

    static hal_status supported(Early&, hal_collective collective, hal_dtype dtype, hal_reduce_op op) {
        return Engine::supported(collective, dtype, op);
    }
    static hal_status alltoallv(Instance& self, hal_dptr send, const uint64_t* send_counts,
                                const uint64_t* send_displacements, hal_dptr recv, const uint64_t* recv_counts,
                                const uint64_t* recv_displacements, hal_dtype dtype, hal_comm comm, hal_stream stream) {
        self.xccl().alltoallv(send, {send_counts, send_displacements}, recv, {recv_counts, recv_displacements}, dtype,
                              comm, stream);
        return HAL_OK;
    }
    static hal_status split(Instance& self, hal_comm comm, int32_t color, int32_t key, hal_comm* out_comm) {
        self.xccl().split(comm, color, key, out_comm);
        return HAL_OK;
    }
    static hal_status set_timeout(Instance& self, hal_comm comm, uint64_t timeout_ns) {
        self.xccl().set_timeout(comm, timeout_ns);
        return HAL_OK;
    }
    static hal_status get_async_error(Instance& self, hal_comm comm) {
        std::string text;
        const hal_status status = self.xccl().async_error(comm, &text);
        if (status != HAL_OK) {
            throw sdk::Error(status, "the communicator has failed: " + text);
        }
        return HAL_OK;
    }
    static hal_status abort(Instance& self, hal_comm comm) {
        self.xccl().abort(comm);
        return HAL_OK;
    }
    static hal_status finalize(Instance& self, hal_comm comm) {
        self.xccl().finalize(comm);
        return HAL_OK;
    }

    static constexpr hal_xccl_table table() {
        return {
            .header = sdk::header<hal_xccl_table>(HAL_TABLE_xccl),
            .xccl_get_unique_id = sdk::slot<get_unique_id>,
            .xccl_get_unique_id_size = sdk::slot<get_unique_id_size>,
            .xccl_comm_init_rank = sdk::slot<comm_init_rank>,
            .xccl_destroy_comm = sdk::slot<destroy_comm>,
            .xccl_all_reduce = sdk::slot<all_reduce>,
            .xccl_broadcast = sdk::slot<broadcast>,
            .xccl_reduce = sdk::slot<reduce>,
            .xccl_all_gather = sdk::slot<all_gather>,
            .xccl_reduce_scatter = sdk::slot<reduce_scatter>,
            .xccl_group_start = sdk::slot<group_start>,
            .xccl_group_end = sdk::slot<group_end>,
            .xccl_send = sdk::slot<send>,
            .xccl_recv = sdk::slot<recv>,
            .xccl_get_version = sdk::slot<get_version>,
            .xccl_get_comm_rank = sdk::slot<get_comm_rank>,
            .xccl_get_comm_size = sdk::slot<get_comm_size>,
            .xccl_barrier = sdk::slot<barrier>,
            .xccl_alltoall = sdk::slot<alltoall>,
        };
    }
    static constexpr hal_xccl_ext_table ext_table() {
        return {
            .header = sdk::header<hal_xccl_ext_table>(HAL_TABLE_xccl_ext),
            .xccl_supported = sdk::slot<supported>,
            .xccl_alltoallv = sdk::slot<alltoallv>,
            .xccl_gather = sdk::slot<gather>,
            .xccl_scatter = sdk::slot<scatter>,
            .xccl_all_reduce_premul = sdk::slot<all_reduce_premul>,
            .xccl_split = sdk::slot<split>,
            .xccl_set_timeout = sdk::slot<set_timeout>,
            .xccl_get_async_error = sdk::slot<get_async_error>,
            .xccl_abort = sdk::slot<abort>,
            .xccl_finalize = sdk::slot<finalize>,
        };
    }
};

}  // namespace hal::xccl

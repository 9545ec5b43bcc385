#include "checks.hpp"

#include <string>

#include "hal/sdk.hpp"
#include "kernels/numbers.hpp"
#include "reduce.hpp"

namespace hal::xccl {
namespace {

bool is_dtype(hal_dtype dtype) noexcept {
    return HAL_DTYPE_BITS(dtype) != 0 && HAL_DTYPE_CODE(dtype) <= 17 && HAL_DTYPE_LANES(dtype) != 0 &&
           HAL_DTYPE_LANES(dtype) <= 64;
}

}  // namespace

void check_type(Kind kind, hal_dtype dtype, hal_reduce_op op) {
    if (kind == Kind::barrier) {
        return;
    }
    if (!is_dtype(dtype)) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "dtype is " + shared::dtype_text(dtype) + ", which is no data type");
    }
    if (element_bytes(dtype) == 0) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED,
                         "dtype " + shared::dtype_text(dtype) + " is not offered by these collectives");
    }
    if (op == 0) {
        return;
    }
    if (op > HAL_REDUCE_BXOR) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "op is " + std::to_string(op) + ", expected HAL_REDUCE_*, 1 to " +
                                                         std::to_string(HAL_REDUCE_BXOR));
    }
    if (!can_reduce(dtype, op)) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED,
                         "op " + std::to_string(op) + " is not offered for dtype " + shared::dtype_text(dtype));
    }
}

bool is_rooted(Kind kind) noexcept {
    return kind == Kind::broadcast || kind == Kind::reduce || kind == Kind::gather || kind == Kind::scatter;
}

bool is_reduction(Kind kind) noexcept {
    return kind == Kind::all_reduce || kind == Kind::reduce || kind == Kind::reduce_scatter;
}

void check_rank(int32_t rank, int32_t size, const char* what) {
    if (rank < 0 || rank >= size) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(what) + " is " + std::to_string(rank) +
                                                         ", the communicator has ranks 0 to " +
                                                         std::to_string(size - 1));
    }
}

uint64_t checked_bytes(uint64_t count, uint64_t item, uint64_t blocks) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, item, &bytes) || __builtin_mul_overflow(bytes, blocks, &bytes) ||
        bytes > INT64_MAX) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "count " + std::to_string(count) + " overflows 63 bits of bytes");
    }
    return bytes;
}

void check_overlap(const Call& call, hal_dptr send, uint64_t send_bytes, hal_dptr recv, uint64_t recv_bytes,
                   uint64_t own_block) {
    const bool apart = send_bytes == 0 || recv_bytes == 0 || send + send_bytes <= recv || recv + recv_bytes <= send;
    const bool in_place = call.kind == Kind::all_gather || call.kind == Kind::gather        ? send == recv + own_block
                          : call.kind == Kind::reduce_scatter || call.kind == Kind::scatter ? recv == send + own_block
                                                                                            : send == recv;
    if (!apart && (!in_place || call.kind == Kind::alltoall)) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         std::string(kind_names[static_cast<size_t>(call.kind)]) +
                             ": send and recv overlap otherwise than this collective's rule for in-place");
    }
}

}  // namespace hal::xccl

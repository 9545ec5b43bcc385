// The checks of a collective's arguments that need no communicator. All throw sdk::Error with what is wrong.
#pragma once

#include <cstdint>

#include "control.hpp"
#include "hal/types.h"

namespace hal::xccl {

[[nodiscard]] bool is_rooted(Kind kind) noexcept;
[[nodiscard]] bool is_reduction(Kind kind) noexcept;

// INVALID_ARGUMENT for what is no type or operation, UNSUPPORTED for one that is not offered. op 0: none.
void check_type(Kind kind, hal_dtype dtype, hal_reduce_op op);
void check_rank(int32_t rank, int32_t size, const char* what);
// The bytes of that many blocks.
[[nodiscard]] uint64_t checked_bytes(uint64_t count, uint64_t item, uint64_t blocks);
// The only overlap that each collective takes is in place, as its table says. `own_block`: bytes before the rank's own.
void check_overlap(const Call& call, hal_dptr send, uint64_t send_bytes, hal_dptr recv, uint64_t recv_bytes,
                   uint64_t own_block);

}  // namespace hal::xccl

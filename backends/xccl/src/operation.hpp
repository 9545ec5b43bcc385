// One collective of one rank, checked, with pointers of this process.
#pragma once

#include <cstdint>
#include <vector>

#include "control.hpp"
#include "hal/types.h"

namespace hal::xccl {

struct Operation {
    Call call;
    std::byte* send = nullptr;
    std::byte* recv = nullptr;
    std::vector<std::byte> scalar;  // of PREMUL_SUM
    bool partial = false;           // of a reduction: recv gets a partial result (partial.hpp)
};

// How many blocks of `count` elements a rank's buffer holds; 0: it has none in this collective.
[[nodiscard]] constexpr uint64_t send_blocks(Kind kind, bool root, uint64_t ranks) noexcept {
    switch (kind) {
        case Kind::all_reduce:
        case Kind::reduce:
        case Kind::all_gather:
        case Kind::gather:
        case Kind::exchange:
            return 1;
        case Kind::broadcast:
            return root ? 1 : 0;
        case Kind::reduce_scatter:
        case Kind::alltoall:
            return ranks;
        case Kind::scatter:
            return root ? ranks : 0;
        default:
            return 0;
    }
}
[[nodiscard]] constexpr uint64_t recv_blocks(Kind kind, bool root, uint64_t ranks) noexcept {
    switch (kind) {
        case Kind::all_reduce:
        case Kind::broadcast:
        case Kind::reduce_scatter:
        case Kind::scatter:
            return 1;
        case Kind::reduce:
            return root ? 1 : 0;
        case Kind::all_gather:
        case Kind::alltoall:
        case Kind::exchange:
            return ranks;
        case Kind::gather:
            return root ? ranks : 0;
        default:
            return 0;
    }
}

// A message to or from another rank.
struct Message {
    bool send = false;
    int32_t peer = 0;
    std::byte* data = nullptr;
    uint64_t count = 0;
    hal_dtype dtype = 0;
    uint64_t number = 0;  // of the pair, from 1
};

}  // namespace hal::xccl

// Packing of matrices that gemm cannot use in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "call.hpp"
#include "gemm.hpp"
#include "kernels/matrices.hpp"

namespace hal::cpu {

using shared::Product;
using shared::Side;

// The bytes of workspace for a matrix; none where it is used in place. A multiple of a cache line.
inline uint64_t scratch_of(const Side& side, bool in_place, size_t item) {
    constexpr uint64_t alignment = 64;
    const uint64_t bytes = static_cast<uint64_t>(side.rows) * static_cast<uint64_t>(side.columns) * item;
    return in_place ? 0 : (bytes + alignment - 1) / alignment * alignment;
}

// The matrix for gemm: in place, or packed into `scratch` where there is one.
template <class T>
Matrix<Compute<T>> operand(const Side& side, const std::byte* data, std::byte* scratch) {
    using C = Compute<T>;
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    if (scratch == nullptr) {
        return {reinterpret_cast<const C*>(data), side.pitch(item), !side.straight(item)};
    }
    auto* packed = reinterpret_cast<C*>(scratch);
    for (int64_t row = 0; row < side.rows; ++row) {
        for (int64_t column = 0; column < side.columns; ++column) {
            packed[row * side.columns + column] =
                load(*reinterpret_cast<const T*>(data + row * side.row_stride + column * side.column_stride));
        }
    }
    return {packed, std::max<int64_t>(side.columns, 1), false};
}

// Writes a packed result to where the elements of the matrix lie.
template <class T>
void unpack(const Side& side, const Compute<T>* packed, std::byte* data) {
    for (int64_t row = 0; row < side.rows; ++row) {
        for (int64_t column = 0; column < side.columns; ++column) {
            *reinterpret_cast<T*>(data + row * side.row_stride + column * side.column_stride) =
                store<T>(packed[row * side.columns + column]);
        }
    }
}

}  // namespace hal::cpu

// Matrices inside tensors: where their elements lie, and packing for those that gemm cannot use in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "call.hpp"
#include "gemm.hpp"
#include "numbers.hpp"

namespace hal::cpu {

// A matrix of each batch; strides count bytes.
struct Side {
    int64_t rows;
    int64_t columns;
    int64_t row_stride;
    int64_t column_stride;

    // May gemm read it where it lies, given neighbours along columns (or, transposed, along rows)?
    [[nodiscard]] bool straight(int64_t item) const noexcept {
        return lies(columns, column_stride, rows, row_stride, item);
    }
    [[nodiscard]] bool transposed(int64_t item) const noexcept {
        return lies(rows, row_stride, columns, column_stride, item);
    }
    [[nodiscard]] int64_t pitch(int64_t item) const noexcept {
        const bool flat = straight(item);
        const int64_t lines = flat ? rows : columns;
        return lines <= 1 ? std::max<int64_t>(flat ? columns : rows, 1) : (flat ? row_stride : column_stride) / item;
    }

  private:
    static bool lies(int64_t inner, int64_t inner_stride, int64_t outer, int64_t outer_stride, int64_t item) noexcept {
        return (inner <= 1 || inner_stride == item) &&
               (outer <= 1 || outer_stride >= std::max<int64_t>(inner, 1) * item);
    }
};

// Splits the last two axes off; a vector is a row on the left and a column on the right.
inline Side split(const View& view, bool left, bool transpose, View& batch) {
    batch = view;
    batch.shape.rank = std::max(view.shape.rank - 2, 0);
    if (view.shape.rank == 1) {
        const int64_t n = view.shape.extent[0];
        return left ? Side{1, n, 0, view.stride[0]} : Side{n, 1, view.stride[0], 0};
    }
    const auto row = static_cast<size_t>(view.shape.rank - 2);
    Side side{view.shape.extent[row], view.shape.extent[row + 1], view.stride[row], view.stride[row + 1]};
    if (transpose) {
        std::swap(side.rows, side.columns);
        std::swap(side.row_stride, side.column_stride);
    }
    return side;
}

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

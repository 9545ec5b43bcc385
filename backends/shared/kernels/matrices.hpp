// Matrices inside tensors: the rules of MatMul, and where the elements of its matrices lie.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "call.hpp"

namespace hal::shared {

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

// MatMul, as ONNX MatMul (opset 13): numpy.matmul with broadcast batches and vectors. The attributes transA and transB
// (0 or 1), named as in ONNX Gemm, swap the last two axes of an input.
struct Product {
    Side a, b, c;
    Shape output;
    Shape batch;
    View batch_a, batch_b, batch_c;  // with the axes of the batch only
};

// Throws what a read_ function throws (operators.hpp). For a query, an output that is not given is dense.
[[nodiscard]] Product read_matmul(const Call& call, hal_dtype dtype);
[[nodiscard]] Inferred product_shape(const Call& call);

}  // namespace hal::shared

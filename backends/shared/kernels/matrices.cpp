#include "matrices.hpp"

#include <utility>

#include "operators.hpp"

namespace hal::shared {
namespace {

// Splits the last two axes off; a vector is a row on the left and a column on the right.
Side split(const View& view, bool left, bool transpose, View& batch) {
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

bool flag(const Call& call, const char* name) {
    const int64_t value = call.integer(name).value_or(0);
    if (value != 0 && value != 1) {
        call.refuse("", "attribute \"" + std::string(name) + "\" is " + std::to_string(value) + ", expected 0 or 1");
    }
    return value == 1;
}

Product read_inputs(const Call& call, const View& a, const View& b) {
    call.attributes({"transA", "transB"});
    call.expect_dtype(b, "input 1", a.dtype);
    if (a.shape.rank == 0 || b.shape.rank == 0) {
        call.refuse(a.shape.rank == 0 ? "input 0" : "input 1",
                    "it is a scalar, expected a vector, a matrix or a batch of them");
    }
    Product product;
    product.a = split(a, true, flag(call, "transA"), product.batch_a);
    product.b = split(b, false, flag(call, "transB"), product.batch_b);
    if (product.a.columns != product.b.rows) {
        call.refuse("", "input 0 has " + std::to_string(product.a.columns) + " columns, input 1 " +
                            std::to_string(product.b.rows) + " rows (shapes " + a.shape.text() + " and " +
                            b.shape.text() + "); they must be equal");
    }
    product.batch = broadcast_shape(call, product.batch_a.shape, product.batch_b.shape);
    product.output = product.batch;
    if (a.shape.rank > 1) {
        product.output.extent[product.output.rank++] = product.a.rows;
    }
    if (b.shape.rank > 1) {
        product.output.extent[product.output.rank++] = product.b.columns;
    }
    return product;
}

// The matrix of each batch of the output; a vector has one row or one column.
Side split_output(const Product& product, const View& output, bool rows, bool columns) {
    const auto axis = [&](int32_t from_end) { return static_cast<size_t>(output.shape.rank - from_end); };
    return {product.a.rows, product.b.columns, rows ? output.stride[axis(columns ? 2 : 1)] : 0,
            columns ? output.stride[axis(1)] : 0};
}

}  // namespace

Product read_matmul(const Call& call, hal_dtype dtype) {
    const View a = call.input(0);
    const View b = call.input(1);
    call.expect_dtype(a, "input 0", dtype);
    Product product = read_inputs(call, a, b);
    const View output = call.raw().output_count == 0 ? dense_view(dtype, product.output) : call.output(0);
    call.expect_dtype(output, "output 0", dtype);
    call.expect_shape(output, "output 0", product.output);
    call.expect_apart(output, a, "input 0", false);
    call.expect_apart(output, b, "input 1", false);
    product.c = split_output(product, output, a.shape.rank > 1, b.shape.rank > 1);
    product.batch_c = output;
    product.batch_c.shape = product.batch;
    return product;
}

Inferred product_shape(const Call& call) {
    const View a = call.input(0);
    return {a.dtype, read_inputs(call, a, call.input(1)).output};
}

}  // namespace hal::shared

// Table 5, category num: what the registered operators compute. Exact data are compared bit for bit; the others against
// a double reference with the bound that follows from the computation (u = 2^-24 for f32), never a bare tolerance.
#include <cmath>

#include "kernel_call.hpp"

namespace hal::conformance {
namespace {

constexpr double unit = 0x1p-24;

// Whole numbers from -range to range: sums and products of them are exact in f32.
std::vector<float> whole(Test& t, size_t count, int64_t range) {
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>(static_cast<int64_t>(t.random() % static_cast<uint64_t>(2 * range + 1)) - range);
    }
    return values;
}

std::vector<float> real(Test& t, size_t count, double range) {
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>((static_cast<double>(t.random() >> 11U) * 0x1p-52 - 1.0) * range);
    }
    return values;
}

void finish(Test& t, Operator& op) {
    const hal_stream s = t.stream();
    t.ok(op.launch(s), "launch");
    t.sync(s);
    op.expect_inputs_unchanged();
}

void within(Test& t, double expected, double got, double bound, Where where = Where::here()) {
    if (std::isnan(expected)) {
        t.check(std::isnan(got), "not a number", where);
    } else {
        t.le(std::abs(got - expected), bound, "distance from the reference", where);
    }
}

HAL_CASE("45079.T5.register_kernel.num.fill", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Fill")})
(Test& t) {
    for (const int64_t value : {int64_t{0}, int64_t{-7}, INT64_MAX, INT64_MIN}) {
        Operator fill(t, "Fill", HAL_I64);
        fill.output(HAL_I64, {3, 5, 7});
        fill.attribute("value", value);
        finish(t, fill);
        fill.expect_output<int64_t>(std::vector<int64_t>(3 * 5 * 7, value));
    }
}

HAL_CASE("45079.T5.register_kernel.num.copy", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Copy")})
(Test& t) {
    const auto values = real(t, 1003, 1e30);
    Operator copy(t, "Copy", HAL_F32);
    copy.input<float>({17, 59}, values);
    copy.output(HAL_F32, {17, 59});
    finish(t, copy);
    copy.expect_output(values);
}

template <class F>
void check_binary(Test& t, std::string_view name, F reference) {
    // Same shapes; then a row and a column that are stretched over each other.
    const auto a = real(t, 77, 100);
    const auto b = real(t, 77, 100);
    Operator same(t, name, HAL_F32);
    same.input<float>({7, 11}, a);
    same.input<float>({7, 11}, b);
    same.output(HAL_F32, {7, 11});
    finish(t, same);
    std::vector<float> expected(77);
    for (size_t i = 0; i < 77; ++i) {
        expected[i] = reference(a[i], b[i]);
    }
    same.expect_output(expected);

    Operator stretched(t, name, HAL_F32);
    stretched.input<float>({7, 1}, {a.begin(), a.begin() + 7});
    stretched.input<float>({11}, {b.begin(), b.begin() + 11});
    stretched.output(HAL_F32, {7, 11});
    finish(t, stretched);
    for (size_t i = 0; i < 77; ++i) {
        expected[i] = reference(a[i / 11], b[i % 11]);
    }
    stretched.expect_output(expected);
}

HAL_CASE("45079.T5.register_kernel.num.add", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Add")})
(Test& t) {
    check_binary(t, "Add", [](float a, float b) { return a + b; });
}
HAL_CASE("45079.T5.register_kernel.num.sub", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Sub")})
(Test& t) {
    check_binary(t, "Sub", [](float a, float b) { return a - b; });
}
HAL_CASE("45079.T5.register_kernel.num.mul", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Mul")})
(Test& t) {
    check_binary(t, "Mul", [](float a, float b) { return a * b; });
}
HAL_CASE("45079.T5.register_kernel.num.max", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Max")})
(Test& t) {
    check_binary(t, "Max", [](float a, float b) { return std::max(a, b); });
}

HAL_CASE("45079.T5.register_kernel.num.relu", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Relu")})
(Test& t) {
    auto values = real(t, 1001, 10);
    values[3] = std::numeric_limits<float>::infinity();
    values[4] = -std::numeric_limits<float>::infinity();
    values[5] = 0x1p-149F;
    Operator relu(t, "Relu", HAL_F32);
    relu.input<float>({1001}, values);
    relu.output(HAL_F32, {1001});
    finish(t, relu);
    std::vector<float> expected(values);
    for (float& value : expected) {
        value = value > 0 ? value : 0.0F;
    }
    relu.expect_output(expected);
}

HAL_CASE("45079.T5.register_kernel.num.matmul_exact", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("MatMul")})
(Test& t) {
    // Any order of summation is exact as long as k * 64 * 64 stays under 2^24; a product of reduced precision is not.
    constexpr size_t m = 33;
    constexpr size_t k = 129;
    constexpr size_t n = 65;
    const auto a = whole(t, m * k, 64);
    const auto b = whole(t, k * n, 64);
    Operator matmul(t, "MatMul", HAL_F32);
    matmul.input<float>({m, k}, a);
    matmul.input<float>({k, n}, b);
    matmul.output(HAL_F32, {m, n});
    finish(t, matmul);
    std::vector<float> expected(m * n, 0);
    for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n; ++j) {
            for (size_t x = 0; x < k; ++x) {
                expected[i * n + j] += a[i * k + x] * b[x * n + j];
            }
        }
    }
    matmul.expect_output(expected);
}

HAL_CASE("45079.T5.register_kernel.num.matmul_bound", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("MatMul")})
(Test& t) {
    constexpr size_t m = 17;
    constexpr size_t k = 257;
    constexpr size_t n = 19;
    const auto a = real(t, m * k, 1);
    const auto b = real(t, k * n, 1);
    Operator matmul(t, "MatMul", HAL_F32);
    matmul.input<float>({m, k}, a);
    matmul.input<float>({k, n}, b);
    matmul.output(HAL_F32, {m, n});
    finish(t, matmul);
    const auto got = matmul.read_output<float>();
    for (size_t i = 0; i < m * n; ++i) {
        double sum = 0;
        double magnitude = 0;
        for (size_t x = 0; x < k; ++x) {
            const double product = static_cast<double>(a[i / n * k + x]) * static_cast<double>(b[x * n + i % n]);
            sum += product;
            magnitude += std::abs(product);
        }
        within(t, sum, static_cast<double>(got[i]), static_cast<double>(k) * unit * magnitude + unit * std::abs(sum));
    }
}

HAL_CASE("45079.T5.register_kernel.num.softmax", clauses{"45079/T5.1"}, authority::D,
         needs{E::register_kernel, memory_io(), op("Softmax")})
(Test& t) {
    // 1000 in a row overflows exp unless the largest is taken off first.
    constexpr size_t rows = 9;
    constexpr size_t width = 101;
    auto values = real(t, rows * width, 20);
    values[5] = 1000.0F;
    Operator softmax(t, "Softmax", HAL_F32);
    softmax.input<float>({rows, width}, values);
    softmax.output(HAL_F32, {rows, width});
    finish(t, softmax);
    const auto got = softmax.read_output<float>();
    for (size_t row = 0; row < rows; ++row) {
        const float* line = values.data() + row * width;
        const double top = static_cast<double>(*std::max_element(line, line + width));
        double sum = 0;
        for (size_t i = 0; i < width; ++i) {
            sum += std::exp(static_cast<double>(line[i]) - top);
        }
        for (size_t i = 0; i < width; ++i) {
            const double difference = static_cast<double>(line[i]) - top;
            const double expected = std::exp(difference) / sum;
            // The subtraction rounds by u * |difference|, which exp makes relative; exp is within 3 ULP, the sum within
            // n u.
            const double bound = expected * unit * (std::abs(difference) + 8.0 + static_cast<double>(width)) + 0x1p-126;
            within(t, expected, static_cast<double>(got[row * width + i]), bound);
        }
    }
}

}  // namespace
}  // namespace hal::conformance

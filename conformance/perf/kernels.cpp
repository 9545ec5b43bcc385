// Operators of the registry at one size each, launched one behind the other.
#include "cases/kernel_call.hpp"
#include "measure.hpp"

namespace hal::conformance {
namespace {

// Values that every sum of the case holds exactly.
std::vector<float> small_integers(Test& t, size_t count) {
    std::vector<float> values(count);
    for (float& value : values) {
        value = static_cast<float>(t.random() % 5) - 2;
    }
    return values;
}

void measure_launches(Test& t, Operator& op, uint64_t bytes) {
    const hal_stream s = t.stream();
    hal_status status = HAL_OK;
    measure(
        t,
        [&](uint64_t n) {
            for (uint64_t i = 0; i < n && status == HAL_OK; ++i) {
                status = op.launch(s);
            }
            t.sync(s);
        },
        bytes);
    t.ok(status);
}

HAL_CASE("perf.kernel.add", clauses{"45079/T5", "46345/A.6 a"}, authority::A,
         needs{E::register_kernel, memory_io(), op("Add")}, cls::medium, exclusive)
(Test& t) {
    constexpr int64_t count = 1 << 20;
    const auto a = small_integers(t, count);
    const auto b = small_integers(t, count);
    Operator add(t, "Add", HAL_F32);
    add.input(std::vector<int64_t>{count}, a);
    add.input(std::vector<int64_t>{count}, b);
    add.output(HAL_F32, {count});
    measure_launches(t, add, 3 * sizeof(float) * count);
    std::vector<float> expected(count);
    for (size_t i = 0; i < expected.size(); ++i) {
        expected[i] = a[i] + b[i];
    }
    add.expect_output(expected);
}

HAL_CASE("perf.kernel.matmul", clauses{"45079/T5", "46345/A.6 a"}, authority::A,
         needs{E::register_kernel, memory_io(), op("MatMul")}, cls::medium, exclusive)
(Test& t) {
    constexpr int64_t n = 256;
    constexpr auto side = static_cast<size_t>(n);
    const auto a = small_integers(t, side * side);
    const auto b = small_integers(t, side * side);
    Operator matmul(t, "MatMul", HAL_F32);
    matmul.input(std::vector<int64_t>{n, n}, a);
    matmul.input(std::vector<int64_t>{n, n}, b);
    matmul.output(HAL_F32, {n, n});
    measure_launches(t, matmul, 0);
    std::vector<float> expected(side * side, 0);
    for (size_t row = 0; row < side; ++row) {
        for (size_t k = 0; k < side; ++k) {
            for (size_t column = 0; column < side; ++column) {
                expected[row * side + column] += a[row * side + k] * b[k * side + column];
            }
        }
    }
    matmul.expect_output(expected);
}

}  // namespace
}  // namespace hal::conformance

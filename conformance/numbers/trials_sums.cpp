// Trials of operators that add up: first whole numbers that are exact in any order, then reals with the bound that
// follows from n roundings of the accumulator.
#include <algorithm>
#include <cmath>

#include "trial.hpp"

namespace hal::conformance {
namespace {

// The largest k so that n numbers of at most k add up without rounding, whatever the order.
uint64_t exact_range(const Element& type, uint64_t n) {
    const int bits = type.real() ? type.digits : type.bits - 2;
    return std::min<uint64_t>((uint64_t{1} << std::min(bits, 62)) / n, uint64_t{1} << 40U);
}

struct Sum {
    Real value = 0;
    Real magnitude = 0;
};

Sum sum_of(const std::vector<Real>& terms) {
    Sum sum;
    for (const Real term : terms) {
        sum.value += term;
        sum.magnitude += std::abs(term);
    }
    return sum;
}

// Adds one result of several terms to a trial, with its wrong versions.
void add_result(Trial& trial, const std::vector<Real>& terms, bool exact) {
    const Sum sum = sum_of(terms);
    const auto n = static_cast<Real>(terms.size());
    const Real u = unit_roundoff(trial.type);
    trial.expected.push_back(sum.value);
    trial.allowed.push_back(exact ? 0 : n * u * sum.magnitude + u * std::abs(sum.value));
    trial.wrong.resize(3);
    trial.wrong[0].push_back(sum.value - terms.front());
    trial.wrong[1].push_back(sum.value + terms.front());
    trial.wrong[2].push_back(sum.value / n);
}

Trial reduce_all(const Element& type, const std::vector<int64_t>& shape, const std::vector<Real>& values, bool exact) {
    Trial trial;
    trial.op = "ReduceSum";
    trial.name = "all axes";
    trial.inputs = {operand(type, shape, values)};
    trial.type = type;
    trial.shape.assign(shape.size(), 1);
    add_result(trial, values, exact);
    return trial;
}

// Of {rows, width} along the rows.
Trial reduce_rows(const Element& type, int64_t rows, int64_t width, const std::vector<Real>& values, bool exact) {
    Trial trial;
    trial.op = "ReduceSum";
    trial.name = "axis 1";
    trial.inputs = {operand(type, {rows, width}, values)};
    trial.attributes = {{"axes", {1}, true}};
    trial.type = type;
    trial.shape = {rows, 1};
    for (int64_t row = 0; row < rows; ++row) {
        add_result(trial, {values.begin() + row * width, values.begin() + (row + 1) * width}, exact);
    }
    return trial;
}

Trial matmul(const Element& type, int64_t m, int64_t k, int64_t n, const std::vector<Real>& a,
             const std::vector<Real>& b, bool exact) {
    Trial trial;
    trial.op = "MatMul";
    trial.name = exact ? "whole numbers" : "reals";
    trial.inputs = {operand(type, {m, k}, a), operand(type, {k, n}, b)};
    trial.type = type;
    trial.shape = {m, n};
    for (int64_t i = 0; i < m * n; ++i) {
        std::vector<Real> products;
        for (int64_t x = 0; x < k; ++x) {
            products.push_back(a[static_cast<size_t>(i / n * k + x)] * b[static_cast<size_t>(x * n + i % n)]);
        }
        add_result(trial, products, exact);
    }
    return trial;
}

// exp(x - top) / sum. The difference rounds by u * |x - top|, which exp makes relative; exp is within 4 units, the sum
// of n terms within n u, the quotient and the result round once each. Narrow types compute in f32 and round once.
Trial softmax(const Element& type, int64_t rows, int64_t width, const std::vector<Real>& values) {
    Trial trial;
    trial.op = "Softmax";
    trial.name = "rows";
    trial.inputs = {operand(type, {rows, width}, values)};
    trial.type = type;
    trial.shape = {rows, width};
    trial.wrong.resize(3);
    const Real accumulator = type.bits == 16 ? 0x1p-24L : unit_roundoff(type);
    for (int64_t row = 0; row < rows; ++row) {
        const Real* line = values.data() + row * width;
        const Real top = *std::max_element(line, line + width);
        Real sum = 0;
        for (int64_t i = 0; i < width; ++i) {
            sum += std::exp(line[i] - top);
        }
        for (int64_t i = 0; i < width; ++i) {
            const Real difference = line[i] - top;
            const Real expected = std::exp(difference) / sum;
            const Real relative = accumulator * (std::abs(difference) + 10 + static_cast<Real>(width));
            trial.expected.push_back(expected);
            trial.allowed.push_back(expected * relative + unit_in_last_place(type, expected));
            trial.wrong[0].push_back(std::exp(difference) / (sum + 1));
            trial.wrong[1].push_back(std::exp(difference));
            trial.wrong[2].push_back(1 / static_cast<Real>(width));
        }
    }
    return trial;
}

uint64_t at_most(const Random& random, uint64_t most) {
    return 1 + random() % most;
}

}  // namespace

std::vector<Trial> reduce_sum_exact_trials(const Element& type, const Random& random) {
    const uint64_t range = exact_range(type, 91);
    const auto values = whole_numbers(type, 91, std::max<uint64_t>(range, 1), random);
    return {reduce_all(type, {7, 13}, values, true), reduce_rows(type, 7, 13, values, true)};
}

std::vector<Trial> reduce_sum_bound_trials(const Element& type, const Random& random) {
    // The bound of a narrow accumulator is as wide as its result after some hundred terms.
    const int64_t width = type.bits == 16 ? 9 : 257;
    auto values = real_numbers(type, static_cast<uint64_t>(5 * width), 1, random);
    for (Real& value : values) {
        value = std::abs(value) + (type.bits == 16 ? 1 : 0);  // no cancellation, or the bound has no power
        value = rounded(type, value);
    }
    return {reduce_rows(type, 5, width, values, false)};
}

std::vector<Trial> softmax_trials(const Element& type, const Random& random) {
    constexpr int64_t rows = 9;
    constexpr int64_t width = 101;
    auto values = real_numbers(type, rows * width, 8, random);
    values[5] = 1000;  // overflows exp unless the largest is taken off first
    return {softmax(type, rows, width, values)};
}

std::vector<Trial> matmul_exact_trials(const Element& type, const Random& random) {
    // k * range^2 stays exact in the accumulator; a product of reduced precision does not where the range allows it.
    const int64_t k = type.bits == 16 ? 17 : 129;
    const auto most = static_cast<uint64_t>(std::sqrt(static_cast<Real>(exact_range(type, static_cast<uint64_t>(k)))));
    const uint64_t range = std::max<uint64_t>(1, most);
    return {matmul(type, 33, k, 65, whole_numbers(type, static_cast<uint64_t>(33 * k), range, random),
                   whole_numbers(type, static_cast<uint64_t>(k * 65), range, random), true)};
}

std::vector<Trial> matmul_bound_trials(const Element& type, const Random& random) {
    const int64_t k = type.bits == 16 ? 9 : 257;
    const auto a = real_numbers(type, static_cast<uint64_t>(17 * k), 1, random);
    const auto b = real_numbers(type, static_cast<uint64_t>(k * 19), 1, random);
    return {matmul(type, 17, k, 19, a, b, false)};
}

Trial random_trial(std::string_view op, const Element& type, const Random& random) {
    if (auto trial = random_elementwise(op, type, random)) {
        return std::move(*trial);
    }
    const auto rows = static_cast<int64_t>(at_most(random, 9));
    const auto width = static_cast<int64_t>(at_most(random, 33));
    const auto count = static_cast<uint64_t>(rows * width);
    if (op == "ReduceSum") {
        const auto values = whole_numbers(type, count, std::max<uint64_t>(1, exact_range(type, count)), random);
        return random() % 2 == 0 ? reduce_all(type, {rows, width}, values, true)
                                 : reduce_rows(type, rows, width, values, true);
    }
    if (op == "Softmax") {
        return softmax(type, rows, width, real_numbers(type, count, 8, random));
    }
    const auto k = static_cast<int64_t>(at_most(random, 40));
    const uint64_t range = std::max<uint64_t>(
        1, static_cast<uint64_t>(std::sqrt(static_cast<Real>(exact_range(type, static_cast<uint64_t>(k))))));
    return matmul(type, rows, k, width, whole_numbers(type, static_cast<uint64_t>(rows * k), range, random),
                  whole_numbers(type, static_cast<uint64_t>(k * width), range, random), true);
}

}  // namespace hal::conformance

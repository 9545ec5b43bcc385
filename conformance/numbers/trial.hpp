// One call of an operator with its inputs, what must come out, and how far from it the result may lie. Each allowance
// follows from the computation, never from a bare tolerance; 0 means correctly rounded.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "element.hpp"

namespace hal::conformance {

struct Operand {
    Element type;
    std::vector<int64_t> shape;
    std::vector<uint8_t> bytes;
};

struct Attribute {
    std::string name;
    std::vector<int64_t> values;
    bool array = false;
};

struct Trial {
    std::string op;
    std::string name;  // for findings: "broadcast"
    std::vector<Operand> inputs;
    std::vector<Attribute> attributes;
    Element type;  // of the output
    std::vector<int64_t> shape;
    std::vector<Real> expected;  // not yet rounded
    std::vector<Real> allowed;   // a distance for each element
    bool bitwise = false;        // the very bytes of input 0, NaN payloads and signs of zero included
    // Results that are wrong in the way of this operator: a term missing, a term twice, a mean for a sum.
    std::vector<std::vector<Real>> wrong;

    [[nodiscard]] const Element& key() const { return inputs.empty() ? type : inputs[0].type; }
};

// The bytes of a right result.
[[nodiscard]] std::vector<uint8_t> right_bytes(const Trial& trial);
// What is wrong with the result, or nothing. Every element is looked at.
[[nodiscard]] std::optional<std::string> judge_result(const Trial& trial, const std::vector<uint8_t>& got);

using Random = std::function<uint64_t()>;

// The trials of each operator of the suite's catalogue for elements of a type (of input 0, or of the output where there
// is no input).
using Trials = std::vector<Trial> (*)(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> fill_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> copy_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> cast_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> add_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> sub_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> mul_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> max_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> relu_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> exp_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> reduce_sum_exact_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> reduce_sum_bound_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> softmax_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> matmul_exact_trials(const Element& type, const Random& random);
[[nodiscard]] std::vector<Trial> matmul_bound_trials(const Element& type, const Random& random);

// One exact trial of the operator (Softmax: one with its bound) and a random shape of up to four dimensions.
[[nodiscard]] Trial random_trial(std::string_view op, const Element& type, const Random& random);
// Nothing for operators that do not treat each element by itself.
[[nodiscard]] std::optional<Trial> random_elementwise(std::string_view op, const Element& type, const Random& random);

// ---- What the trials are made of ----

[[nodiscard]] uint64_t count_of(const std::vector<int64_t>& shape);
[[nodiscard]] Operand operand(const Element& type, std::vector<int64_t> shape, const std::vector<Real>& values);
// Values of the type between -range and range (0 and range for naturals).
[[nodiscard]] std::vector<Real> whole_numbers(const Element& type, uint64_t count, uint64_t range,
                                              const Random& random);
[[nodiscard]] std::vector<Real> real_numbers(const Element& type, uint64_t count, Real range, const Random& random);

}  // namespace hal::conformance

// Trials of operators that treat each element by itself. All but Exp are correctly rounded.
#include <array>
#include <cmath>

#include "trial.hpp"

namespace hal::conformance {
namespace {

// In 64 bits a sum or product of narrower reals rounds once more without harm; f64 is the host's own.
template <class Op>
Real in(const Element& type, Real a, Real b, Op op) {
    if (type.real() && type.digits > 31) {
        return static_cast<Real>(op(static_cast<double>(a), static_cast<double>(b)));
    }
    return op(a, b);
}

struct Add {
    static constexpr const char* name = "Add";
    template <class T>
    T operator()(T a, T b) const {
        return a + b;
    }
};
struct Sub {
    static constexpr const char* name = "Sub";
    template <class T>
    T operator()(T a, T b) const {
        return a - b;
    }
};
struct Mul {
    static constexpr const char* name = "Mul";
    template <class T>
    T operator()(T a, T b) const {
        return a * b;
    }
};
struct Max {
    static constexpr const char* name = "Max";
    template <class T>
    T operator()(T a, T b) const {
        return a < b ? b : a;
    }
};

// Where an element of the broadcast shape lies in an input of fewer or shorter dimensions.
size_t place(uint64_t index, const std::vector<int64_t>& whole, const std::vector<int64_t>& part) {
    uint64_t at = 0;
    uint64_t stride = 1;
    for (size_t d = 0; d < whole.size(); ++d) {
        const size_t axis = whole.size() - 1 - d;
        const uint64_t coordinate = index % static_cast<uint64_t>(whole[axis]);
        index /= static_cast<uint64_t>(whole[axis]);
        if (d < part.size()) {
            const auto extent = static_cast<uint64_t>(part[part.size() - 1 - d]);
            at += extent == 1 ? 0 : coordinate * stride;
            stride *= extent;
        }
    }
    return at;
}

// No result leaves the range of an integer type.
struct Inputs {
    std::vector<Real> a;
    std::vector<Real> b;
};
Inputs draw(const Element& type, uint64_t a, uint64_t b, const Random& random) {
    if (type.real()) {
        return {real_numbers(type, a, 100, random), real_numbers(type, b, 100, random)};
    }
    const uint64_t range = (uint64_t{1} << (type.bits / 2 - 1)) - 1;
    Inputs in{whole_numbers(type, a, range, random), whole_numbers(type, b, range, random)};
    for (Real& value : in.a) {
        value += type.has_sign() ? 0 : static_cast<Real>(range);  // so that a difference is no less than 0
    }
    return in;
}

template <class Op>
Trial binary(const Element& type, const char* name, const std::vector<int64_t>& shape, const std::vector<int64_t>& left,
             const std::vector<int64_t>& right, const Inputs& in_values, Op op) {
    Trial trial;
    trial.op = Op::name;
    trial.name = name;
    trial.inputs = {operand(type, left, in_values.a), operand(type, right, in_values.b)};
    trial.type = type;
    trial.shape = shape;
    const uint64_t count = count_of(shape);
    trial.allowed.assign(count, 0);
    trial.wrong.resize(3);
    for (uint64_t i = 0; i < count; ++i) {
        const Real a = in_values.a[place(i, shape, left)];
        const Real b = in_values.b[place(i, shape, right)];
        const Real result = in(type, a, b, op);
        trial.expected.push_back(result);
        trial.wrong[0].push_back(a);
        trial.wrong[1].push_back(in(type, result, b, op));
        trial.wrong[2].push_back(result / 2);
    }
    return trial;
}

template <class Op>
std::vector<Trial> binary_trials(const Element& type, const Random& random, Op op) {
    std::vector<Trial> trials;
    const auto make = [&](const char* name, const std::vector<int64_t>& shape, const std::vector<int64_t>& left,
                          const std::vector<int64_t>& right) {
        trials.push_back(
            binary(type, name, shape, left, right, draw(type, count_of(left), count_of(right), random), op));
    };
    make("same shape", {7, 11}, {7, 11}, {7, 11});
    make("row and column", {7, 11}, {7, 1}, {11});
    make("scalar", {5, 3}, {5, 3}, {});
    make("rank 8", {1, 2, 1, 3, 1, 2, 1, 5}, {1, 2, 1, 3, 1, 2, 1, 5}, {2, 1, 5});
    make("long", {100'003}, {100'003}, {100'003});
    if (type.real()) {
        const Real most = largest(type);
        const Real least = unit_in_last_place(type, 0);
        const Real inf = std::numeric_limits<Real>::infinity();
        const Inputs edges{{inf, most, least, -least, 1, most, -inf, 3, least}, {1, 0, least, 0, inf, 1, 2, -5, 1}};
        trials.push_back(binary(type, "ends of the range", {9}, {9}, {9}, edges, op));
    }
    return trials;
}

// ---- One input ----

template <class F>
Trial unary(const char* op, const char* name, const Element& type, const std::vector<int64_t>& shape,
            const std::vector<Real>& values, F f) {
    Trial trial;
    trial.op = op;
    trial.name = name;
    trial.inputs = {operand(type, shape, values)};
    trial.type = type;
    trial.shape = shape;
    trial.allowed.assign(values.size(), 0);
    trial.wrong.resize(2);
    for (const Real value : values) {
        trial.expected.push_back(f(value));
        trial.wrong[0].push_back(f(value) / 2);
        trial.wrong[1].push_back(value);
    }
    return trial;
}

// Every value of a 16-bit type; of a wider one some of each exponent, and what is special.
std::vector<Real> spread(const Element& type, const Random& random) {
    std::vector<Real> values;
    if (type.bits == 16) {
        for (uint32_t word = 0; word < 65'536; ++word) {
            const std::array<uint8_t, 2> bytes{static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8U)};
            values.push_back(decode(type, bytes.data()));
        }
        return values;
    }
    const Real inf = std::numeric_limits<Real>::infinity();
    values = {0, inf, -inf, largest(type), -largest(type), unit_in_last_place(type, 0)};
    values.push_back(std::numeric_limits<Real>::quiet_NaN());
    for (int exponent = 1 - type.max_exponent - type.digits; exponent <= type.max_exponent; ++exponent) {
        for (int i = 0; i < 12; ++i) {
            const Real part = 1.0L + static_cast<Real>(random() >> 12U) * 0x1p-52L;
            values.push_back(rounded(type, (i % 2 == 0 ? 1.0L : -1.0L) * std::ldexp(part, exponent)));
        }
    }
    return values;
}

template <class Op>
Trial random_binary(const Element& type, const Random& random, Op op) {
    std::vector<int64_t> shape(1 + random() % 4);
    std::vector<int64_t> left;
    std::vector<int64_t> right;
    for (int64_t& extent : shape) {
        extent = static_cast<int64_t>(1 + random() % 9);
        const uint64_t stretched = random() % 4;  // of one input, in half of the cases
        left.push_back(stretched == 0 ? 1 : extent);
        right.push_back(stretched == 1 ? 1 : extent);
    }
    if (left[0] == shape[0] && random() % 3 == 0) {
        right.erase(right.begin());  // leading dimensions may be absent
    }
    return binary(type, "random shape", shape, left, right, draw(type, count_of(left), count_of(right), random), op);
}

std::vector<int64_t> random_shape(const Random& random) {
    std::vector<int64_t> shape(random() % 5);
    for (int64_t& extent : shape) {
        extent = static_cast<int64_t>(1 + random() % 9);
    }
    return shape;
}

// Of exp, in units in the last place; narrow types compute in f32 and round once, but f16 may have an exp of its own.
Real exp_units(const Element& type) {
    return type.name == "f16" ? 2 : type.name == "bf16" ? 1 : 3;
}

}  // namespace

std::vector<Trial> add_trials(const Element& type, const Random& random) {
    return binary_trials(type, random, Add{});
}
std::vector<Trial> sub_trials(const Element& type, const Random& random) {
    return binary_trials(type, random, Sub{});
}
std::vector<Trial> mul_trials(const Element& type, const Random& random) {
    return binary_trials(type, random, Mul{});
}
std::vector<Trial> max_trials(const Element& type, const Random& random) {
    return binary_trials(type, random, Max{});
}

std::vector<Trial> relu_trials(const Element& type, const Random& random) {
    auto values = type.real() ? real_numbers(type, 1001, 10, random) : whole_numbers(type, 1001, 100, random);
    if (type.real()) {
        values[3] = std::numeric_limits<Real>::infinity();
        values[4] = -values[3];
        values[5] = unit_in_last_place(type, 0);
        values[6] = largest(type);
    }
    return {unary("Relu", "dense", type, {1001}, values, [](Real x) { return x > 0 ? x : 0.0L; })};
}

std::vector<Trial> exp_trials(const Element& type, const Random& random) {
    std::vector<Trial> trials;
    const auto values = spread(type, random);
    const auto near = real_numbers(type, 4099, 10, random);
    for (const auto* list : {&values, &near}) {
        Trial trial = unary("Exp", list == &near ? "around 0" : "whole range", type,
                            {static_cast<int64_t>(list->size())}, *list, [](Real x) { return std::exp(x); });
        for (size_t i = 0; i < list->size(); ++i) {
            trial.allowed[i] = exp_units(type) * unit_in_last_place(type, trial.expected[i]);
        }
        trials.push_back(std::move(trial));
    }
    return trials;
}

std::vector<Trial> copy_trials(const Element& type, const Random& random) {
    Trial trial;
    trial.op = "Copy";
    trial.name = "any bits";
    trial.type = type;
    trial.shape = {17, 59};
    trial.bitwise = true;
    Operand input{type, trial.shape, {}};
    for (uint64_t i = 0; i < count_of(trial.shape) * type.bytes(); ++i) {
        const auto byte = static_cast<uint8_t>(random());
        input.bytes.push_back(type.kind == Element::Kind::boolean ? byte & 1U : byte);
    }
    trial.inputs = {std::move(input)};
    return {trial};
}

std::vector<Trial> fill_trials(const Element& type, const Random&) {
    std::vector<int64_t> values{1};
    if (type.kind != Element::Kind::boolean) {
        values.insert(values.end(), {0, 100});
    }
    if (type.has_sign()) {
        values.push_back(-7);
    }
    if (type.name == "i64") {
        values.insert(values.end(), {INT64_MAX, INT64_MIN, (int64_t{1} << 53U) + 1});
    }
    std::vector<Trial> trials;
    for (const int64_t value : values) {
        Trial trial;
        trial.op = "Fill";
        trial.name = "value " + std::to_string(value);
        trial.attributes = {{"value", {value}, false}};
        trial.type = type;
        trial.shape = {3, 5, 7};
        trial.expected.assign(count_of(trial.shape), static_cast<Real>(value));
        trial.allowed.assign(trial.expected.size(), 0);
        trial.wrong = {std::vector<Real>(trial.expected.size(), static_cast<Real>(value == 1 ? 0 : value / 2))};
        trials.push_back(std::move(trial));
    }
    return trials;
}

// Values that both types have, and for reals the one rounding to a narrower type.
std::vector<Trial> cast_trials(const Element& type, const Random& random) {
    std::vector<Trial> trials;
    for (const Element& to : elements()) {
        if (to.kind == Element::Kind::boolean || type.kind == Element::Kind::boolean) {
            continue;
        }
        const bool narrowing = type.real() && to.real() && to.digits < type.digits;
        std::vector<Real> values = narrowing ? real_numbers(type, 501, 1000, random) : std::vector<Real>();
        for (uint64_t i = values.size(); i < 501; ++i) {
            const auto value = static_cast<Real>(random() % 101);
            values.push_back(type.has_sign() && to.has_sign() && i % 2 == 0 ? -value : value);
        }
        Trial trial = unary("Cast", "", type, {3, 167}, values, [](Real x) { return x; });
        trial.name = "to " + std::string(to.name);
        trial.type = to;
        trial.wrong.resize(1);
        trials.push_back(std::move(trial));
    }
    return trials;
}

std::optional<Trial> random_elementwise(std::string_view op, const Element& type, const Random& random) {
    if (op == "Add") {
        return random_binary(type, random, Add{});
    }
    if (op == "Sub") {
        return random_binary(type, random, Sub{});
    }
    if (op == "Mul") {
        return random_binary(type, random, Mul{});
    }
    if (op == "Max") {
        return random_binary(type, random, Max{});
    }
    const auto shape = random_shape(random);
    const uint64_t count = count_of(shape);
    if (op == "Relu") {
        const auto values =
            type.real() ? real_numbers(type, count, 10, random) : whole_numbers(type, count, 100, random);
        return unary("Relu", "random shape", type, shape, values, [](Real x) { return x > 0 ? x : 0.0L; });
    }
    if (op == "Exp") {
        Trial trial = unary("Exp", "random shape", type, shape, real_numbers(type, count, 10, random),
                            [](Real x) { return std::exp(x); });
        for (uint64_t i = 0; i < count; ++i) {
            trial.allowed[i] = exp_units(type) * unit_in_last_place(type, trial.expected[i]);
        }
        return trial;
    }
    if (op == "Copy" || op == "Fill" || op == "Cast") {
        auto trials = op == "Copy"   ? copy_trials(type, random)
                      : op == "Fill" ? fill_trials(type, random)
                                     : cast_trials(type, random);
        return std::move(trials[random() % trials.size()]);
    }
    return {};
}

}  // namespace hal::conformance

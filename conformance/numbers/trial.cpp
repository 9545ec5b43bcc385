#include "trial.hpp"

#include <cmath>
#include <cstring>

namespace hal::conformance {
namespace {

std::string text_of(Real value) {
    char text[64];
    std::snprintf(text, sizeof text, "%.21Lg", value);
    return text;
}

bool fits(const Element& type, Real expected, Real allowed, Real got) {
    const Real near = rounded(type, expected);
    if (std::isnan(near) || std::isnan(got)) {
        return std::isnan(near) && std::isnan(got);
    }
    if (near == got) {
        return true;
    }
    if (std::isinf(near) || std::isinf(got)) {
        // Within the allowance of the end of the range either is right.
        return allowed != 0 && std::signbit(near) == std::signbit(got) &&
               std::min(std::abs(expected), std::abs(got)) >= largest(type) - allowed;
    }
    return std::abs(got - expected) <= allowed;
}

}  // namespace

std::vector<uint8_t> right_bytes(const Trial& trial) {
    return trial.bitwise ? trial.inputs[0].bytes : encode(trial.type, trial.expected);
}

std::optional<std::string> judge_result(const Trial& trial, const std::vector<uint8_t>& got) {
    const uint64_t size = trial.type.bytes();
    const uint64_t count = count_of(trial.shape);
    if (got.size() != count * size) {
        return std::to_string(got.size()) + " bytes instead of " + std::to_string(count * size);
    }
    uint64_t wrong = 0;
    std::string first;
    for (uint64_t i = 0; i < count; ++i) {
        const uint8_t* at = got.data() + i * size;
        const bool good = trial.bitwise ? std::memcmp(at, trial.inputs[0].bytes.data() + i * size, size) == 0
                                        : fits(trial.type, trial.expected[i], trial.allowed[i], decode(trial.type, at));
        if (good) {
            continue;
        }
        if (wrong++ == 0) {
            const Real expected =
                trial.bitwise ? decode(trial.type, trial.inputs[0].bytes.data() + i * size) : trial.expected[i];
            first = "element " + std::to_string(i) + " is " + text_of(decode(trial.type, at)) + " instead of " +
                    text_of(expected);
            if (!trial.bitwise && trial.allowed[i] != 0) {
                first += " within " + text_of(trial.allowed[i]);
            }
        }
    }
    if (wrong == 0) {
        return {};
    }
    return first + " (" + std::to_string(wrong) + " of " + std::to_string(count) + " elements are wrong)";
}

uint64_t count_of(const std::vector<int64_t>& shape) {
    uint64_t count = 1;
    for (const int64_t extent : shape) {
        count *= static_cast<uint64_t>(extent);
    }
    return count;
}

Operand operand(const Element& type, std::vector<int64_t> shape, const std::vector<Real>& values) {
    return {type, std::move(shape), encode(type, values)};
}

std::vector<Real> whole_numbers(const Element& type, uint64_t count, uint64_t range, const Random& random) {
    std::vector<Real> values(count);
    for (Real& value : values) {
        const uint64_t drawn = random();
        value = static_cast<Real>((drawn >> 1U) % (range + 1));
        if (type.has_sign() && (drawn & 1U) != 0) {
            value = -value;
        }
    }
    return values;
}

std::vector<Real> real_numbers(const Element& type, uint64_t count, Real range, const Random& random) {
    std::vector<Real> values(count);
    for (Real& value : values) {
        const auto part = static_cast<Real>(random() >> 11U) * 0x1p-52L - 1.0L;
        value = rounded(type, part * range);
    }
    return values;
}

}  // namespace hal::conformance

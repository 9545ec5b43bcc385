// Element types as numbers: exact conversion to one wide type and back, rounded once, and their units in the last
// place. Shares no code with any back end.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "hal/types.h"

namespace hal::conformance {

// Holds every value of every element type exactly.
using Real = long double;
static_assert(std::numeric_limits<Real>::digits >= 64);

struct Element {
    enum class Kind : uint8_t { boolean, whole, natural, real };
    hal_dtype dtype = 0;
    std::string_view name;  // "f32"
    Kind kind = Kind::real;
    int bits = 0;
    int digits = 0;        // significand bits of a real
    int max_exponent = 0;  // of a real: the largest is below 2^(max_exponent + 1)

    [[nodiscard]] uint64_t bytes() const { return static_cast<uint64_t>(bits) / 8; }
    [[nodiscard]] bool real() const { return kind == Kind::real; }
    [[nodiscard]] bool has_sign() const { return kind == Kind::real || kind == Kind::whole; }
};

// f32 f64 f16 bf16, the integers, bool.
[[nodiscard]] const std::vector<Element>& elements();
// Throws HarnessError for any other.
[[nodiscard]] const Element& element_of(hal_dtype dtype);
[[nodiscard]] const Element& element_of(std::string_view name);

[[nodiscard]] Real decode(const Element& type, const uint8_t* at);
// Rounds a real to nearest, ties to even; a whole number must be one of the type.
void encode(const Element& type, Real value, uint8_t* at);
[[nodiscard]] std::vector<uint8_t> encode(const Element& type, const std::vector<Real>& values);
[[nodiscard]] std::vector<Real> decode(const Element& type, const std::vector<uint8_t>& bytes);

// The value of the type that encode would make.
[[nodiscard]] Real rounded(const Element& type, Real value);
[[nodiscard]] Real largest(const Element& type);
// The distance of neighbours where `value` lies, at least the smallest denormal; 1 for whole numbers.
[[nodiscard]] Real unit_in_last_place(const Element& type, Real value);
// Half of the distance of neighbours at 1: the largest relative error of rounding. 0 for whole numbers.
[[nodiscard]] Real unit_roundoff(const Element& type);

}  // namespace hal::conformance

#include "element.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "harness/api.hpp"

namespace hal::conformance {
namespace {

using Kind = Element::Kind;

uint64_t load(const Element& type, const uint8_t* at) {
    uint64_t word = 0;
    std::memcpy(&word, at, type.bytes());  // little-endian, as every host of the contract
    return word;
}

Real decode_real(const Element& type, uint64_t word) {
    const int fraction_bits = type.digits - 1;
    const uint64_t fraction = word & ((uint64_t{1} << fraction_bits) - 1);
    const auto exponent = static_cast<int>((word >> fraction_bits) & ((uint64_t{2} * type.max_exponent + 1)));
    const Real sign = (word >> (type.bits - 1)) != 0 ? -1.0L : 1.0L;
    if (exponent == 2 * type.max_exponent + 1) {
        return fraction == 0 ? sign * std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::quiet_NaN();
    }
    const auto whole = static_cast<Real>(exponent == 0 ? fraction : fraction | (uint64_t{1} << fraction_bits));
    return sign * std::ldexp(whole, std::max(exponent, 1) - type.max_exponent - fraction_bits);
}

uint64_t encode_real(const Element& type, Real value) {
    const int fraction_bits = type.digits - 1;
    const auto special = static_cast<uint64_t>(2 * type.max_exponent + 1) << fraction_bits;
    const uint64_t sign = std::signbit(value) ? uint64_t{1} << (type.bits - 1) : 0;
    if (std::isnan(value)) {
        return special | (uint64_t{1} << (fraction_bits - 1));
    }
    const Real near = std::abs(rounded(type, value));
    if (std::isinf(near)) {
        return sign | special;
    }
    if (near == 0) {
        return sign;
    }
    const int exponent = std::max(std::ilogb(near), 1 - type.max_exponent);
    const auto whole = static_cast<uint64_t>(std::ldexp(near, fraction_bits - exponent));
    const bool denormal = whole < (uint64_t{1} << fraction_bits);
    const auto field = static_cast<uint64_t>(denormal ? 0 : exponent + type.max_exponent);
    return sign | (field << fraction_bits) | (whole & ((uint64_t{1} << fraction_bits) - 1));
}

}  // namespace

const std::vector<Element>& elements() {
    static const std::vector<Element> all{
        {HAL_F32, "f32", Kind::real, 32, 24, 127}, {HAL_F64, "f64", Kind::real, 64, 53, 1023},
        {HAL_F16, "f16", Kind::real, 16, 11, 15},  {HAL_BF16, "bf16", Kind::real, 16, 8, 127},
        {HAL_I8, "i8", Kind::whole, 8, 0, 0},      {HAL_I16, "i16", Kind::whole, 16, 0, 0},
        {HAL_I32, "i32", Kind::whole, 32, 0, 0},   {HAL_I64, "i64", Kind::whole, 64, 0, 0},
        {HAL_U8, "u8", Kind::natural, 8, 0, 0},    {HAL_U16, "u16", Kind::natural, 16, 0, 0},
        {HAL_U32, "u32", Kind::natural, 32, 0, 0}, {HAL_U64, "u64", Kind::natural, 64, 0, 0},
        {HAL_BOOL, "bool", Kind::boolean, 8, 0, 0}};
    return all;
}

const Element& element_of(hal_dtype dtype) {
    const auto& all = elements();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Element& type) { return type.dtype == dtype; });
    if (found == all.end()) {
        throw HarnessError("no numbers of dtype " + std::to_string(dtype));
    }
    return *found;
}

const Element& element_of(std::string_view name) {
    const auto& all = elements();
    const auto found = std::find_if(all.begin(), all.end(), [&](const Element& type) { return type.name == name; });
    if (found == all.end()) {
        throw HarnessError("no element type " + std::string(name));
    }
    return *found;
}

Real decode(const Element& type, const uint8_t* at) {
    const uint64_t word = load(type, at);
    switch (type.kind) {
        case Kind::real:
            return decode_real(type, word);
        case Kind::whole:
            // The sign bit to the top, then back with sign.
            return static_cast<Real>(static_cast<int64_t>(word << (64 - type.bits)) >> (64 - type.bits));
        default:
            return static_cast<Real>(word);
    }
}

void encode(const Element& type, Real value, uint8_t* at) {
    uint64_t word = 0;
    if (type.real()) {
        word = encode_real(type, value);
    } else if (value < 0) {
        word = static_cast<uint64_t>(static_cast<int64_t>(value));
    } else {
        word = static_cast<uint64_t>(value);
    }
    std::memcpy(at, &word, type.bytes());
}

std::vector<uint8_t> encode(const Element& type, const std::vector<Real>& values) {
    std::vector<uint8_t> bytes(values.size() * type.bytes());
    for (size_t i = 0; i < values.size(); ++i) {
        encode(type, values[i], bytes.data() + i * type.bytes());
    }
    return bytes;
}

std::vector<Real> decode(const Element& type, const std::vector<uint8_t>& bytes) {
    std::vector<Real> values(bytes.size() / type.bytes());
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = decode(type, bytes.data() + i * type.bytes());
    }
    return values;
}

Real largest(const Element& type) {
    return std::ldexp(static_cast<Real>((uint64_t{1} << type.digits) - 1), type.max_exponent - type.digits + 1);
}

Real rounded(const Element& type, Real value) {
    if (!type.real() || std::isnan(value) || std::isinf(value) || value == 0) {
        return value;
    }
    const Real unit = unit_in_last_place(type, value);
    const Real near = std::nearbyint(value / unit) * unit;
    return std::abs(near) > largest(type) ? std::copysign(std::numeric_limits<Real>::infinity(), value) : near;
}

Real unit_in_last_place(const Element& type, Real value) {
    if (!type.real()) {
        return 1;
    }
    const int lowest = 1 - type.max_exponent;
    int exponent = lowest;
    if (std::isinf(value) || std::isnan(value)) {
        exponent = type.max_exponent;
    } else if (value != 0) {
        exponent = std::clamp(std::ilogb(value), lowest, type.max_exponent);
    }
    return std::ldexp(1.0L, exponent - type.digits + 1);
}

Real unit_roundoff(const Element& type) {
    return type.real() ? std::ldexp(1.0L, -type.digits) : 0;
}

}  // namespace hal::conformance

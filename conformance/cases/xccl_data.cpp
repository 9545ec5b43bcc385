// Data of reductions, exact in any order: whole numbers small enough, powers of two for products, all bits for what
// wraps around.
#include <algorithm>
#include <cmath>

#include "xccl.hpp"

namespace hal::conformance {
namespace {

using Kind = Element::Kind;

constexpr hal_reduce_op all_ops[] = {HAL_REDUCE_SUM, HAL_REDUCE_PROD, HAL_REDUCE_MAX, HAL_REDUCE_MIN,
                                     HAL_REDUCE_AVG, HAL_REDUCE_BAND, HAL_REDUCE_BOR, HAL_REDUCE_BXOR};

bool of_bits(hal_reduce_op op) {
    return op == HAL_REDUCE_BAND || op == HAL_REDUCE_BOR || op == HAL_REDUCE_BXOR;
}

// What the suite has an opinion of: a sum of booleans it has not.
bool computable(const Element& type, hal_reduce_op op) {
    if (type.kind == Kind::boolean) {
        return op == HAL_REDUCE_MAX || op == HAL_REDUCE_MIN;
    }
    return !type.real() || !of_bits(op);
}

uint64_t low_bits(int bits) {
    return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

int64_t as_signed(const Element& type, uint64_t word) {
    const int unused = 64 - type.bits;
    return static_cast<int64_t>(word << unused) >> unused;
}

// Of a real: whole numbers of which all sums are exact; for products a power of two, and a zero here and there.
Real real_of(const Element& type, hal_reduce_op op, int ranks, uint64_t random) {
    if (op == HAL_REDUCE_PROD) {
        constexpr Real factors[] = {1, 2, 0.5L, -1, -2, -0.5L, 1, 0};
        return random % 61 == 0 ? 0 : factors[random % 7];
    }
    // Averages are of multiples of the ranks, so that they too are whole.
    const int step = op == HAL_REDUCE_AVG ? ranks : 1;
    const auto most = static_cast<int64_t>(std::ldexp(1.0L, std::min(type.digits, 40)) / ranks / step);
    return static_cast<Real>(static_cast<int64_t>(random % static_cast<uint64_t>(2 * most + 1)) - most) * step;
}

// Of a whole number: all bits, but no sum that wraps where it is divided after.
uint64_t word_of(const Element& type, hal_reduce_op op, int ranks, uint64_t random) {
    if (type.kind == Kind::boolean) {
        return random & 1U;
    }
    if (op != HAL_REDUCE_AVG) {
        return random & low_bits(type.bits);
    }
    const uint64_t range = low_bits(type.bits - 1) / static_cast<uint64_t>(ranks);
    const uint64_t size = random % (range + 1);
    return (type.has_sign() && (random >> 63U) != 0 ? ~size + 1 : size) & low_bits(type.bits);
}

uint64_t random_of(uint64_t seed, int rank, uint64_t i) {
    return mix(mix(seed + 0x51ED * static_cast<uint64_t>(rank + 1)) + i);
}

Real combined(hal_reduce_op op, Real a, Real b) {
    switch (op) {
        case HAL_REDUCE_PROD:
            return a * b;
        case HAL_REDUCE_MAX:
            return std::max(a, b);
        case HAL_REDUCE_MIN:
            return std::min(a, b);
        default:
            return a + b;
    }
}

uint64_t combined(const Element& type, hal_reduce_op op, uint64_t a, uint64_t b) {
    const bool less = type.has_sign() ? as_signed(type, a) < as_signed(type, b) : a < b;
    switch (op) {
        case HAL_REDUCE_PROD:
            return (a * b) & low_bits(type.bits);
        case HAL_REDUCE_MAX:
            return less ? b : a;
        case HAL_REDUCE_MIN:
            return less ? a : b;
        case HAL_REDUCE_BAND:
            return a & b;
        case HAL_REDUCE_BOR:
            return a | b;
        case HAL_REDUCE_BXOR:
            return a ^ b;
        default:
            return (a + b) & low_bits(type.bits);
    }
}

uint64_t divided(const Element& type, uint64_t sum, int ranks) {
    return type.has_sign() ? static_cast<uint64_t>(as_signed(type, sum) / ranks) : sum / static_cast<uint64_t>(ranks);
}

}  // namespace

bool takes(Test& t, hal_collective collective, hal_dtype dtype, hal_reduce_op op) {
    if (t.api.xccl_supported) {
        return t.api.xccl_supported(collective, dtype, op) == HAL_OK;
    }
    return (dtype == HAL_F32 || dtype == HAL_I32) && op == HAL_REDUCE_SUM;
}

std::vector<Reduction> reductions(Test& t, hal_collective collective) {
    std::vector<Reduction> result;
    for (const Element& type : elements()) {
        for (const hal_reduce_op op : all_ops) {
            if (computable(type, op) && takes(t, collective, type.dtype, op)) {
                result.push_back({type, op});
            }
        }
    }
    return result;
}

std::vector<hal_dtype> carried_types(Test& t, hal_collective collective) {
    std::vector<hal_dtype> result;
    for (const hal_dtype type : {HAL_U8, HAL_I16, HAL_F32, HAL_F64, HAL_C128, HAL_I8, HAL_F16, HAL_I32, HAL_I64,
                                 HAL_C64, HAL_BF16, HAL_F8E5M2}) {
        if (takes(t, collective, type, HAL_REDUCE_SUM)) {
            result.push_back(type);
        }
    }
    return result;
}

uint64_t bytes_of(hal_dtype dtype) {
    return (HAL_DTYPE_BITS(dtype) * HAL_DTYPE_LANES(dtype) + 7) / 8;
}

Bytes given(const Reduction& reduction, int ranks, int rank, uint64_t count, uint64_t seed) {
    const Element& type = reduction.type;
    Bytes bytes(count * type.bytes());
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t random = random_of(seed, rank, i);
        uint8_t* const at = bytes.data() + i * type.bytes();
        if (type.real()) {
            encode(type, real_of(type, reduction.op, ranks, random), at);
        } else {
            const uint64_t word = word_of(type, reduction.op, ranks, random);
            std::memcpy(at, &word, type.bytes());
        }
    }
    return bytes;
}

Bytes reduced(const Reduction& reduction, int ranks, uint64_t count, uint64_t seed) {
    const auto [type, op] = reduction;
    Bytes bytes(count * type.bytes());
    for (uint64_t i = 0; i < count; ++i) {
        uint8_t* const at = bytes.data() + i * type.bytes();
        Real real = 0;
        uint64_t word = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            const uint64_t random = random_of(seed, rank, i);
            if (type.real()) {
                const Real one = real_of(type, op, ranks, random);
                real = rank == 0 ? one : combined(op, real, one);
            } else {
                const uint64_t one = word_of(type, op, ranks, random);
                word = rank == 0 ? one : combined(type, op, word, one);
            }
        }
        const bool average = op == HAL_REDUCE_AVG;
        if (type.real()) {
            encode(type, average ? real / ranks : real, at);
        } else {
            word = average ? divided(type, word, ranks) : word;
            std::memcpy(at, &word, type.bytes());
        }
    }
    return bytes;
}

Bytes tagged(uint64_t seed, int from, int to, uint64_t size) {
    Bytes bytes(size);
    Pattern(seed, static_cast<uint64_t>(from) * 1009 + static_cast<uint64_t>(to)).write(bytes.data(), size);
    return bytes;
}

}  // namespace hal::conformance

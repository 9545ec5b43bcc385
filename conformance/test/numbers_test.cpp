// The numbers of the kernel cases: conversions, and for every trial that wrong results are rejected and right ones are
// not.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "harness/data.hpp"
#include "numbers/trial.hpp"

using namespace hal::conformance;

namespace {

Random seeded(uint64_t seed) {
    return [seed, i = uint64_t{0}]() mutable { return mix(seed ^ mix(i++)); };
}

struct Catalogue {
    const char* name;
    Trials trials;
    std::vector<std::string_view> types;
};

const std::vector<Catalogue>& catalogue() {
    static const std::vector<std::string_view> reals{"f32", "f64", "f16", "bf16"};
    static const std::vector<std::string_view> all{"f32", "f64", "f16", "bf16", "i8",  "i16",
                                                   "i32", "i64", "u8",  "u16",  "u32", "u64"};
    static const std::vector<Catalogue> list{
        {"fill", &fill_trials, all},
        {"copy", &copy_trials, all},
        {"cast", &cast_trials, all},
        {"add", &add_trials, all},
        {"sub", &sub_trials, all},
        {"mul", &mul_trials, all},
        {"max", &max_trials, all},
        {"relu", &relu_trials, {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64"}},
        {"exp", &exp_trials, reals},
        {"reduce_sum_exact", &reduce_sum_exact_trials, {"f32", "f64", "f16", "bf16", "i32", "i64", "u32", "u64"}},
        {"reduce_sum_bound", &reduce_sum_bound_trials, reals},
        {"softmax", &softmax_trials, reals},
        {"matmul_exact", &matmul_exact_trials, reals},
        {"matmul_bound", &matmul_bound_trials, reals}};
    return list;
}

// The ten ways to be wrong: zeros, the input back, signs flipped, a gain of 1.05, the last element not written, all
// shifted by one, one unit in the last place of one element, and the operator's own: a term missing, a term twice, a
// mean for a sum.
std::map<std::string, std::vector<uint8_t>> wrong_results(const Trial& trial) {
    const auto right = right_bytes(trial);
    const auto values = decode(trial.type, right);
    const uint64_t size = trial.type.bytes();
    const auto made = [&](auto change) {
        std::vector<Real> changed;
        for (const Real value : values) {
            changed.push_back(change(value));
        }
        return encode(trial.type, changed);
    };
    std::map<std::string, std::vector<uint8_t>> wrong;
    wrong["zeros"] = std::vector<uint8_t>(right.size(), 0);
    if (!trial.inputs.empty() && !trial.bitwise && trial.inputs[0].type.dtype == trial.type.dtype) {
        wrong["input back"] = trial.inputs[0].bytes;
        wrong["input back"].resize(right.size());
    }
    if (trial.type.has_sign() && !trial.bitwise) {
        wrong["sign"] = made([](Real x) { return -x; });
    }
    if (trial.type.real() && !trial.bitwise) {
        wrong["gain"] = made([](Real x) { return x * 1.05L; });
    }
    wrong["last"] = right;
    std::memset(wrong["last"].data() + right.size() - size, poison, size);
    wrong["shift"] = right;
    std::rotate(wrong["shift"].begin(), wrong["shift"].begin() + static_cast<int64_t>(size), wrong["shift"].end());
    if (!trial.bitwise) {
        std::vector<Real> one = values;
        for (Real& value : one) {
            const Real up = value + unit_in_last_place(trial.type, value);
            if (std::isfinite(value) && std::abs(value) > 1e-3L && rounded(trial.type, up) == up) {
                value = up;
                break;
            }
        }
        wrong["one unit"] = encode(trial.type, one);
    }
    for (size_t i = 0; i < trial.wrong.size(); ++i) {
        wrong["own " + std::to_string(i)] = encode(trial.type, trial.wrong[i]);
    }
    return wrong;
}

bool exact(const Trial& trial) {
    return std::all_of(trial.allowed.begin(), trial.allowed.end(), [](Real allowed) { return allowed == 0; });
}

}  // namespace

TEST_CASE("an element survives decode and encode, every value of the small types") {
    for (const Element& type : elements()) {
        INFO(type.name);
        const Random random = seeded(type.dtype);
        for (uint32_t i = 0; i < 65'536; ++i) {
            const uint64_t word = type.bits <= 16 ? i : random();
            std::array<uint8_t, 8> bytes{};
            std::memcpy(bytes.data(), &word, type.bytes());
            std::array<uint8_t, 8> back{};
            const Real value = decode(type, bytes.data());
            encode(type, value, back.data());
            if (!std::isnan(value) && bytes != back) {
                FAIL("word " << word << " of " << type.name);
            }
        }
    }
}

TEST_CASE("reals agree with the host's own f32 and f64") {
    const Random random = seeded(7);
    for (int i = 0; i < 100'000; ++i) {
        const uint64_t word = random();
        double wide = 0;
        std::memcpy(&wide, &word, sizeof wide);
        if (std::isnan(wide)) {
            continue;
        }
        const auto narrow = static_cast<float>(wide);
        std::array<uint8_t, 4> bytes{};
        encode(element_of(HAL_F32), static_cast<Real>(wide), bytes.data());
        REQUIRE(std::memcmp(bytes.data(), &narrow, sizeof narrow) == 0);
        REQUIRE(decode(element_of(HAL_F32), bytes.data()) == static_cast<Real>(narrow));
    }
}

TEST_CASE("rounding is to nearest, ties to even, and overflows to infinity") {
    const Element& half = element_of(HAL_F16);
    CHECK(rounded(half, 2049) == 2048);
    CHECK(rounded(half, 2051) == 2052);
    CHECK(rounded(half, 65'519) == 65'504);
    CHECK(std::isinf(rounded(half, 65'520)));
    CHECK(rounded(half, 0x1p-25L) == 0);
    CHECK(rounded(half, 0x1.8p-25L) == 0x1p-24L);
    CHECK(unit_in_last_place(half, 1) == 0x1p-10L);
    CHECK(unit_in_last_place(half, 0) == 0x1p-24L);
    CHECK(unit_roundoff(element_of(HAL_BF16)) == 0x1p-8L);
}

TEST_CASE("every trial takes the right result and rejects the wrong ones") {
    // Not wrong, or not more than the operator may be: one unit where a bound is allowed.
    for (const Catalogue& entry : catalogue()) {
        for (const std::string_view name : entry.types) {
            for (uint64_t seed = 0; seed < 3; ++seed) {
                for (const Trial& trial : entry.trials(element_of(name), seeded(seed))) {
                    INFO(entry.name << " " << name << ", " << trial.name << ", seed " << seed);
                    const auto right = right_bytes(trial);
                    CHECK(judge_result(trial, right) == std::nullopt);
                    for (const auto& [fault, bytes] : wrong_results(trial)) {
                        INFO(fault);
                        const bool same = decode(trial.type, bytes) == decode(trial.type, right) || bytes == right;
                        const bool small = fault == "one unit" && !exact(trial);
                        if (!same && !small) {
                            CHECK(judge_result(trial, bytes).has_value());
                        }
                    }
                    CHECK(judge_result(trial, std::vector<uint8_t>(right.size() + 1)).has_value());
                }
            }
        }
    }
}

TEST_CASE("random trials take the right result") {
    for (const char* op :
         {"Fill", "Copy", "Cast", "Add", "Sub", "Mul", "Max", "Relu", "Exp", "ReduceSum", "Softmax", "MatMul"}) {
        const Random random = seeded(3);
        for (int i = 0; i < 50; ++i) {
            const Trial trial = random_trial(op, element_of(HAL_F32), random);
            CHECK(trial.op == op);
            CHECK(judge_result(trial, right_bytes(trial)) == std::nullopt);
        }
    }
}

TEST_CASE("legal ways to add up are within the bound") {
    // One term after the other in the type itself, forwards and backwards, and pairwise.
    for (const std::string_view name : {"f32", "f64", "f16", "bf16"}) {
        const Element& type = element_of(name);
        for (uint64_t seed = 0; seed < 50; ++seed) {
            for (const Trial& trial : reduce_sum_bound_trials(type, seeded(seed))) {
                const auto terms = decode(type, trial.inputs[0].bytes);
                const auto width = static_cast<size_t>(trial.inputs[0].shape[1]);
                std::vector<Real> forwards;
                std::vector<Real> backwards;
                std::vector<Real> pairwise;
                for (size_t row = 0; row < trial.expected.size(); ++row) {
                    Real up = 0;
                    Real down = 0;
                    for (size_t i = 0; i < width; ++i) {
                        up = rounded(type, up + terms[row * width + i]);
                        down = rounded(type, down + terms[row * width + width - 1 - i]);
                    }
                    std::vector<Real> level(terms.begin() + static_cast<int64_t>(row * width),
                                            terms.begin() + static_cast<int64_t>((row + 1) * width));
                    while (level.size() > 1) {
                        for (size_t i = 0; i + 1 < level.size(); i += 2) {
                            level[i / 2] = rounded(type, level[i] + level[i + 1]);
                        }
                        if (level.size() % 2 != 0) {
                            level[level.size() / 2] = level.back();
                        }
                        level.resize((level.size() + 1) / 2);
                    }
                    forwards.push_back(up);
                    backwards.push_back(down);
                    pairwise.push_back(level[0]);
                }
                for (const auto* sums : {&forwards, &backwards, &pairwise}) {
                    CHECK(judge_result(trial, encode(type, *sums)) == std::nullopt);
                }
            }
        }
    }
}

// The bound of sums over ranks: every legal way to add is within it, every fault of a collective is not.
#include "numbers/rank_sums.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "harness/data.hpp"

using namespace hal::conformance;

namespace {

constexpr uint64_t count = 101;

Random seeded(uint64_t seed) {
    return [seed, i = uint64_t{0}]() mutable { return mix(seed ^ mix(i++)); };
}

using Terms = std::vector<Real>;  // of one element, by rank

std::vector<uint8_t> made(const RankSums& sums, const std::function<Real(const Terms&)>& add) {
    std::vector<Real> results;
    for (uint64_t i = 0; i < sums.expected.size(); ++i) {
        Terms terms;
        for (const auto& given : sums.given) {
            terms.push_back(given[i]);
        }
        results.push_back(add(terms));
    }
    return encode(sums.type, results);
}

Real one_after_the_other(const Element& type, const Terms& terms) {
    Real sum = terms[0];
    for (size_t i = 1; i < terms.size(); ++i) {
        sum = rounded(type, sum + terms[i]);
    }
    return sum;
}

Real pairwise(const Element& type, Terms terms) {
    while (terms.size() > 1) {
        Terms next;
        for (size_t i = 0; i < terms.size(); i += 2) {
            next.push_back(i + 1 < terms.size() ? rounded(type, terms[i] + terms[i + 1]) : terms[i]);
        }
        terms = std::move(next);
    }
    return terms[0];
}

Real exact(const Terms& terms) {
    Real sum = 0;
    for (const Real term : terms) {
        sum += term;
    }
    return sum;
}

void for_each_point(int least, const std::function<void(const RankSums&, int ranks)>& check) {
    for (const std::string_view name : {"f32", "f64", "f16", "bf16"}) {
        for (int ranks = least; ranks <= 8; ++ranks) {
            for (uint64_t seed = 0; seed < 20; ++seed) {
                INFO(name << ", " << ranks << " ranks, seed " << seed);
                check(rank_sums(element_of(name), ranks, count, seeded(seed)), ranks);
            }
        }
    }
}

}  // namespace

TEST_CASE("legal sums over ranks are within the bound") {
    for_each_point(1, [](const RankSums& sums, int) {
        const Element& type = sums.type;
        const Element& f32 = type.bits == 16 ? element_of(HAL_F32) : type;
        CHECK(judge_sums(sums, 0, made(sums, exact)) == std::nullopt);
        CHECK(judge_sums(sums, 0, made(sums, [&](const Terms& t) { return one_after_the_other(type, t); })) ==
              std::nullopt);
        CHECK(judge_sums(sums, 0, made(sums, [&](Terms t) {
                             std::reverse(t.begin(), t.end());
                             return one_after_the_other(type, t);
                         })) == std::nullopt);
        CHECK(judge_sums(sums, 0, made(sums, [&](const Terms& t) { return pairwise(type, t); })) == std::nullopt);
        CHECK(judge_sums(sums, 0, made(sums, [&](const Terms& t) { return one_after_the_other(f32, t); })) ==
              std::nullopt);
    });
}

TEST_CASE("sums over ranks that are wrong are not") {
    for_each_point(2, [](const RankSums& sums, int ranks) {
        const Element& type = sums.type;
        const auto right = made(sums, exact);
        std::map<std::string, std::vector<uint8_t>> wrong{
            {"zeros", std::vector<uint8_t>(right.size(), 0)},
            {"own data", encode(type, sums.given[0])},
            {"a rank is missing", made(sums, [](const Terms& t) { return exact(t) - t.back(); })},
            {"a rank counts twice", made(sums, [](const Terms& t) { return exact(t) - t.back() + t.front(); })},
            {"a mean", made(sums, [&](const Terms& t) { return exact(t) / ranks; })},
            {"sign", made(sums, [](const Terms& t) { return -exact(t); })},
            {"gain", made(sums, [](const Terms& t) { return exact(t) * 1.05L; })},
            {"NaN", made(sums, [](const Terms& t) { return exact(t) * std::nanl(""); })}};
        wrong["shift"] = right;
        std::rotate(wrong["shift"].begin(), wrong["shift"].begin() + static_cast<int64_t>(type.bytes()),
                    wrong["shift"].end());
        wrong["last"] = right;
        std::fill(wrong["last"].end() - static_cast<int64_t>(type.bytes()), wrong["last"].end(), poison);
        if (type.bits > 16) {  // a 16-bit type has hardly more digits than that
            wrong["fixed point"] = made(sums, [](const Terms& t) {
                Real sum = 0;
                for (const Real term : t) {
                    sum += std::nearbyint(term * 256) / 256;
                }
                return sum;
            });
        }
        for (const auto& [fault, bytes] : wrong) {
            INFO(fault);
            CHECK(judge_sums(sums, 0, bytes).has_value());
        }
    });
}

TEST_CASE("a slice of the sums is judged by its own elements") {
    const RankSums sums = rank_sums(element_of(HAL_F32), 3, count, seeded(5));
    const std::vector<Real> half(sums.expected.begin() + 50, sums.expected.end());
    const auto bytes = encode(sums.type, half);
    CHECK(judge_sums(sums, 50, bytes) == std::nullopt);
    CHECK(judge_sums(sums, 49, bytes).has_value());
    CHECK(judge_sums(sums, 51, bytes).has_value());  // ends behind the last one
}

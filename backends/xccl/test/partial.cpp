// Reductions in the steps that hosts do: the same as all at once, for every type and operation.
#include "partial.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>
#include <vector>

namespace hal::xccl {
namespace {

constexpr hal_dtype types[] = {HAL_I8,  HAL_I16, HAL_I32, HAL_I64,  HAL_U8,   HAL_U16,      HAL_U32,   HAL_U64,
                               HAL_F16, HAL_F32, HAL_F64, HAL_BF16, HAL_BOOL, HAL_F8E4M3FN, HAL_F8E5M2};

using Data = std::vector<std::byte>;

// Encodings of small numbers in every type: 0, 1, 2 as floats of any kind would not be bytes 0, 1, 2.
Data numbers(hal_dtype dtype, uint64_t count, unsigned seed) {
    Data encoded(count * element_bytes(dtype));
    std::vector<int32_t> whole(count);
    for (uint64_t i = 0; i < count; ++i) {
        whole[i] = static_cast<int32_t>((i * 7 + seed * 3) % 3);
    }
    for (uint64_t i = 0; i < count; ++i) {  // sums of ones, in the type itself
        std::byte* const at = encoded.data() + i * element_bytes(dtype);
        const uint64_t ones[] = {0x01, 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000, 0x38};
        const uint64_t one = dtype == HAL_F16 || dtype == HAL_F8E5M2 ? ones[1] >> (dtype == HAL_F16 ? 0U : 8U)
                             : dtype == HAL_BF16                     ? ones[2]
                             : dtype == HAL_F32                      ? ones[3]
                             : dtype == HAL_F64                      ? ones[4]
                             : dtype == HAL_F8E4M3FN                 ? ones[5]
                                                                     : ones[0];
        if (whole[i] == 0) {
            continue;
        }
        std::memcpy(at, &one, element_bytes(dtype));
        if (whole[i] == 2 && dtype != HAL_BOOL) {
            Data other(at, at + element_bytes(dtype));
            const std::byte* const sources[] = {at, other.data()};
            std::byte* const target = at;
            reduce({.dtype = dtype,
                    .op = HAL_REDUCE_SUM,
                    .sources = sources,
                    .targets = std::span(&target, 1),
                    .count = 1});
        }
    }
    return encoded;
}

TEST_CASE("partial results of hosts make the same as a reduction of all") {
    constexpr uint64_t count = 1500;
    for (const hal_dtype dtype : types) {
        for (hal_reduce_op op = HAL_REDUCE_SUM; op <= HAL_REDUCE_BXOR; ++op) {
            if (!can_reduce(dtype, op)) {
                continue;
            }
            CAPTURE(dtype, op);
            std::vector<Data> ranks;
            std::vector<const std::byte*> sources;
            for (unsigned rank = 0; rank < 5; ++rank) {
                ranks.push_back(numbers(dtype, count, rank));
                sources.push_back(ranks.back().data());
            }
            const Data scalars = numbers(dtype, 5, 1);
            Reduction all{.dtype = dtype, .op = op, .sources = sources, .count = count, .scalars = scalars.data()};
            Data expected(count * element_bytes(dtype));
            std::byte* target = expected.data();
            all.targets = std::span(&target, 1);
            reduce(all);

            // Hosts of 2 and 3 ranks.
            Data first(count * partial_bytes(dtype, op));
            Data second(first.size());
            Data result(expected.size());
            target = first.data();
            all.sources = std::span(sources).first(2);
            reduce_to_partial(all);
            target = second.data();
            all.sources = std::span(sources).subspan(2);
            all.scalars = scalars.data() + 2 * element_bytes(dtype);
            reduce_to_partial(all);

            const std::byte* const both[] = {first.data(), second.data()};
            target = result.data();
            all.sources = both;
            finish_partials(all, 5);
            CHECK(result == expected);

            add_partials(dtype, op, first.data(), first.data(), second.data(), count);
            std::fill(result.begin(), result.end(), std::byte{0xee});
            all.sources = std::span(both).first(1);
            finish_partials(all, 5);
            CHECK(result == expected);
        }
    }
}

TEST_CASE("what is rounded is rounded once") {
    // 1 + 2^-11 + 2^-11 in f16: each addition alone would be rounded back to 1.
    const uint16_t one = 0x3c00;
    const uint16_t small = 0x1000;
    CHECK(partial_bytes(HAL_F16, HAL_REDUCE_SUM) == 4);
    std::byte partials[2][4];
    const std::byte* const sources[] = {reinterpret_cast<const std::byte*>(&one),
                                        reinterpret_cast<const std::byte*>(&small),
                                        reinterpret_cast<const std::byte*>(&small)};
    std::byte* target = partials[0];
    Reduction work{.dtype = HAL_F16, .op = HAL_REDUCE_SUM, .targets = std::span(&target, 1), .count = 1};
    work.sources = std::span(sources).first(2);
    reduce_to_partial(work);
    target = partials[1];
    work.sources = std::span(sources).subspan(2);
    reduce_to_partial(work);
    uint16_t total = 0;
    target = reinterpret_cast<std::byte*>(&total);
    const std::byte* const both[] = {partials[0], partials[1]};
    work.sources = both;
    finish_partials(work, 3);
    CHECK(total == 0x3c01);
}

}  // namespace
}  // namespace hal::xccl

#include "pattern.hpp"

#include <algorithm>

namespace hal::bench::xccl {
namespace {

// 1..16 by the place, so that a shifted block is noticed, and the rank on top.
float place_value(uint64_t index) {
    return static_cast<float>(((static_cast<uint32_t>(index) * UINT32_C(2654435761)) >> 28) + 1);
}

// Of a run of elements in the result: element i is scale * place_value(place + i) + offset.
struct Expected {
    uint64_t place;
    float scale;
    float offset;
};

Expected from_rank(int rank, uint64_t place) {
    return {place, 1, static_cast<float>(rank)};
}

Expected sum_of_ranks(int ranks, uint64_t place) {
    const int offsets = ranks * (ranks - 1) / 2;
    return {place, static_cast<float>(ranks), static_cast<float>(offsets)};
}

// From `index` to the end of its block the result follows one rule.
Expected expected_at(const Collective& collective, int rank, uint64_t index) {
    const uint64_t block = index / collective.call_count();
    const uint64_t within = index % collective.call_count();
    const uint64_t own_slice = static_cast<uint64_t>(rank) * collective.call_count();
    switch (collective.operation) {
        case Operation::all_reduce:
            return sum_of_ranks(collective.ranks, index);
        case Operation::broadcast:
            return from_rank(0, index);
        case Operation::all_gather:
            return from_rank(static_cast<int>(block), within);
        case Operation::reduce_scatter:
            return sum_of_ranks(collective.ranks, own_slice + index);
        case Operation::alltoall:
            return from_rank(static_cast<int>(block), own_slice + within);
    }
    return {};
}

}  // namespace

void fill_input(std::span<float> chunk, uint64_t first, int rank) {
    for (size_t i = 0; i < chunk.size(); ++i) {
        chunk[i] = place_value(first + i) + static_cast<float>(rank);
    }
}

void fill_poison(std::span<float> chunk) {
    std::fill(chunk.begin(), chunk.end(), -1.0F);
}

uint64_t count_wrong(std::span<const float> chunk, uint64_t first, const Collective& collective, int rank) {
    uint64_t wrong = 0;
    for (size_t done = 0; done < chunk.size();) {
        const uint64_t index = first + done;
        const uint64_t left_in_block = collective.call_count() - index % collective.call_count();
        const auto run = chunk.subspan(done, std::min<uint64_t>(left_in_block, chunk.size() - done));
        const Expected expected = expected_at(collective, rank, index);
        for (size_t i = 0; i < run.size(); ++i) {
            wrong += run[i] != expected.scale * place_value(expected.place + i) + expected.offset ? 1 : 0;
        }
        done += run.size();
    }
    return wrong;
}

}  // namespace hal::bench::xccl

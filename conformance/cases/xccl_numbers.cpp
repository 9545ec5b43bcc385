// Table 10: reductions of numbers that round, and of NaN.
#include <cmath>

#include "numbers/rank_sums.hpp"
#include "xccl.hpp"

namespace hal::conformance {
namespace {

// What this rank's buffer holds after the collective was given these bytes.
Bytes result_of(Test& t, const Ready& r, const Reduction& reduction, const Bytes& bytes, uint64_t count) {
    const Collective& collective = collective_of(t);
    DeviceBuffer& send = device_with(t, bytes);
    DeviceBuffer& recv = t.device(count * reduction.type.bytes(), t.dev);
    CollectiveCall call;
    call.send = send.ptr;
    call.recv = recv.ptr;
    call.count = count;
    call.dtype = reduction.type.dtype;
    call.op = reduction.op;
    call.root = t.ranks() - 1;
    call.ranks = t.ranks();
    call.rank = t.rank();
    call.comm = r.comm;
    call.stream = r.stream;
    t.ok(collective.call(t, call), "the call");
    waited(t, r.stream);
    Bytes result = read_bytes(t, recv);
    t.release(send);
    t.release(recv);
    return result;
}

// Sums of which each addition rounds: as near as additions in any order allow.
void check_bound(Test& t) {
    const Ready r(t);
    const Collective& collective = collective_of(t);
    const auto mine = collective.gets(t.ranks(), t.rank(), t.ranks() - 1);
    for (const Element& type : elements()) {
        for (const uint64_t count : {257, 10'007}) {  // all at once, and shared out
            if (r.comm == nullptr || !type.real() || !takes(t, collective.kind, type.dtype, HAL_REDUCE_SUM)) {
                continue;
            }
            const auto in_type = t.context("dtype", type.dtype);
            const auto in_count = t.context("count", count);
            const auto blocks = static_cast<uint64_t>(collective.sends(t.ranks()));
            const RankSums sums = rank_sums(type, t.ranks(), count * blocks, [&] { return t.random(); });
            const Bytes got =
                result_of(t, r, {type, HAL_REDUCE_SUM}, encode(type, sums.given[static_cast<size_t>(t.rank())]), count);
            for (const auto& [from, block] : mine) {
                t.eq(std::string(), judge_sums(sums, count * static_cast<uint64_t>(block), got).value_or(""),
                     "the sum within its bound");
            }
        }
    }
    t.check(r.comm != nullptr, "a communicator");
}

#define BOUND(row, entry)                                                                                            \
    HAL_CASE("45079.T10." #entry ".num.bound", clauses{"45079/T10." #row}, authority::D, needs{comm_io(), E::entry}, \
             number_of_ranks(2), cls::medium)                                                                        \
    (Test & t) {                                                                                                     \
        check_bound(t);                                                                                              \
    }

BOUND(5, xccl_all_reduce)
BOUND(7, xccl_reduce)
BOUND(9, xccl_reduce_scatter)

// ---- NaN ----

// Element i is NaN on the ranks whose bits are set in i, so that all combinations of ranks come in turn.
bool is_nan_of(const Test& t, uint64_t i, int rank) {
    return ((i % (uint64_t{1} << static_cast<unsigned>(t.ranks()))) >> static_cast<unsigned>(rank) & 1U) != 0;
}
Real number_of(uint64_t i, int rank) {
    return static_cast<Real>(mix(i * 16 + static_cast<uint64_t>(rank)) % 201) - 100;
}

Bytes with_nan(const Test& t, const Element& type, uint64_t count) {
    std::vector<Real> values;
    for (uint64_t i = 0; i < count; ++i) {
        values.push_back(is_nan_of(t, i, t.rank()) ? std::nanl("") : number_of(i, t.rank()));
    }
    return encode(type, values);
}

// Of the ranks that give a number; NaN where none does.
Real extreme_of_numbers(const Test& t, hal_reduce_op op, uint64_t i) {
    Real extreme = std::nanl("");
    for (int rank = 0; rank < t.ranks(); ++rank) {
        if (!is_nan_of(t, i, rank)) {
            const Real number = number_of(i, rank);
            extreme = op == HAL_REDUCE_MAX ? std::fmax(extreme, number) : std::fmin(extreme, number);
        }
    }
    return extreme;
}

struct NanSeen {
    uint64_t won = 0;      // NaN of some ranks, and the result is NaN
    uint64_t lost = 0;     // the result is the extreme of the others
    std::string invented;  // it is neither
};
NanSeen look(const Test& t, const Reduction& reduction, const Bytes& got) {
    NanSeen seen;
    const std::vector<Real> values = decode(reduction.type, got);
    const uint64_t combinations = uint64_t{1} << static_cast<unsigned>(t.ranks());
    for (uint64_t i = 0; i < values.size(); ++i) {
        const Real others = extreme_of_numbers(t, reduction.op, i);
        const bool some = i % combinations != 0 && !std::isnan(others);
        if (some && std::isnan(values[i])) {
            ++seen.won;
        } else if (values[i] == others || (std::isnan(values[i]) && std::isnan(others))) {
            seen.lost += some ? 1 : 0;
        } else if (seen.invented.empty()) {
            seen.invented = "element " + std::to_string(i) + " is " + shown(values[i]) + " instead of " + shown(others);
        }
    }
    return seen;
}

// What NaN does to a maximum or a minimum is not laid down; but it does the same wherever it comes from, and nothing to
// the elements beside it.
HAL_CASE("45079.T10.xccl_all_reduce.norm.minmax_nan", clauses{"45079/T10.5"}, authority::Q,
         needs{comm_io(), E::xccl_all_reduce}, so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const Ready r(t);
    for (const Reduction& reduction :
         r.comm == nullptr ? std::vector<Reduction>() : reductions(t, HAL_COLL_ALL_REDUCE)) {
        if (!reduction.type.real() || (reduction.op != HAL_REDUCE_MAX && reduction.op != HAL_REDUCE_MIN)) {
            continue;
        }
        for (const uint64_t count : {257, 10'007}) {
            const auto in_type = t.context("dtype", reduction.type.dtype);
            const auto in_op = t.context("op", reduction.op);
            const auto in_count = t.context("count", count);
            const NanSeen seen =
                look(t, reduction, result_of(t, r, reduction, with_nan(t, reduction.type, count), count));
            t.eq(std::string(), seen.invented, "NaN, or the extreme of the numbers");
            t.check(seen.won == 0 || seen.lost == 0, "NaN wins or loses wherever it comes from");
            for (const std::string& other : t.exchange(std::to_string(seen.won))) {
                t.eq(std::to_string(seen.won), other, "elements that are NaN, on every rank");
            }
        }
    }
    t.check(r.comm != nullptr, "a communicator");
}

}  // namespace
}  // namespace hal::conformance

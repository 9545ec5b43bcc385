// The collectives as values: how each is called, and which blocks each rank gets.
#include "xccl.hpp"

namespace hal::conformance {
namespace {

using Blocks = std::vector<std::pair<int, int>>;
using Place = Collective::Place;

int one_block(int) {
    return 1;
}
int block_a_rank(int ranks) {
    return ranks;
}
Blocks own_block(int, int rank, int) {
    return {{0, rank}};
}
Blocks first_block(int, int, int) {
    return {{0, 0}};
}
Blocks first_block_on_root(int, int rank, int root) {
    return rank == root ? Blocks{{0, 0}} : Blocks{};
}
// The block of every rank that is for this one.
Blocks from_all(int ranks, int block) {
    Blocks blocks;
    for (int from = 0; from < ranks; ++from) {
        blocks.emplace_back(from, block);
    }
    return blocks;
}

// Each rank sends to the next one and receives from the one before, in a group.
hal_status ring(Test& t, const CollectiveCall& c) {
    const int next = (c.rank + 1) % c.ranks;
    const int before = (c.rank + c.ranks - 1) % c.ranks;
    if (const hal_status status = t.api.xccl_group_start(); status != HAL_OK) {
        return status;
    }
    const hal_status sent = t.api.xccl_send(c.send, c.count, c.dtype, next, c.comm, c.stream);
    const hal_status received = t.api.xccl_recv(c.recv, c.count, c.dtype, before, c.comm, c.stream);
    const hal_status ended = t.api.xccl_group_end();
    return sent != HAL_OK ? sent : received != HAL_OK ? received : ended;
}

hal_status even_alltoallv(Test& t, const CollectiveCall& c) {
    const std::vector<uint64_t> counts(static_cast<size_t>(c.ranks), c.count);
    std::vector<uint64_t> displacements;
    for (int rank = 0; rank < c.ranks; ++rank) {
        displacements.push_back(c.count * static_cast<uint64_t>(rank));
    }
    return t.api.xccl_alltoallv(c.send, counts.data(), displacements.data(), c.recv, counts.data(),
                                displacements.data(), c.dtype, c.comm, c.stream);
}

Collective of(hal_collective kind, bool reduces, bool rooted, Place place,
              std::function<hal_status(Test&, const CollectiveCall&)> call, std::function<int(int)> sends,
              std::function<int(int)> receives, std::function<Blocks(int, int, int)> gets) {
    Collective made;
    made.kind = kind;
    made.reduces = reduces;
    made.rooted = rooted;
    made.place = place;
    made.call = std::move(call);
    made.sends = std::move(sends);
    made.receives = std::move(receives);
    made.gets = std::move(gets);
    return made;
}

// Where a collective takes what ends all of them: communicator and stream.
#define CALL(entry, ...) \
    [](Test& t, const CollectiveCall& c) { return t.api.entry(c.send, c.recv, c.count, c.dtype, __VA_ARGS__); }

std::map<std::string_view, Collective> all_collectives() {
    std::map<std::string_view, Collective> all;
    all["xccl_all_reduce"] = of(HAL_COLL_ALL_REDUCE, true, false, Place::same,
                                CALL(xccl_all_reduce, c.op, c.comm, c.stream), one_block, one_block, first_block);
    all["xccl_broadcast"] =
        of(HAL_COLL_BROADCAST, false, true, Place::same, CALL(xccl_broadcast, c.root, c.comm, c.stream), one_block,
           one_block, [](int, int, int root) {
               return Blocks{{root, 0}};
           });
    all["xccl_reduce"] = of(HAL_COLL_REDUCE, true, true, Place::same, CALL(xccl_reduce, c.op, c.root, c.comm, c.stream),
                            one_block, one_block, first_block_on_root);
    all["xccl_all_gather"] =
        of(HAL_COLL_ALL_GATHER, false, false, Place::own_of_recv, CALL(xccl_all_gather, c.comm, c.stream), one_block,
           block_a_rank, [](int ranks, int, int) { return from_all(ranks, 0); });
    all["xccl_reduce_scatter"] =
        of(HAL_COLL_REDUCE_SCATTER, true, false, Place::own_of_send, CALL(xccl_reduce_scatter, c.op, c.comm, c.stream),
           block_a_rank, one_block, own_block);
    all["xccl_alltoall"] =
        of(HAL_COLL_ALLTOALL, false, false, Place::none, CALL(xccl_alltoall, c.comm, c.stream), block_a_rank,
           block_a_rank, [](int ranks, int rank, int) { return from_all(ranks, rank); });
    all["xccl_alltoallv"] = of(HAL_COLL_ALLTOALLV, false, false, Place::none, even_alltoallv, block_a_rank,
                               block_a_rank, [](int ranks, int rank, int) { return from_all(ranks, rank); });
    all["xccl_gather"] =
        of(HAL_COLL_GATHER, false, true, Place::none, CALL(xccl_gather, c.root, c.comm, c.stream), one_block,
           block_a_rank, [](int ranks, int rank, int root) { return rank == root ? from_all(ranks, 0) : Blocks{}; });
    all["xccl_scatter"] = of(HAL_COLL_SCATTER, false, true, Place::none, CALL(xccl_scatter, c.root, c.comm, c.stream),
                             block_a_rank, one_block, [](int, int rank, int root) {
                                 return Blocks{{root, rank}};
                             });
    all["xccl_send"] =
        of(HAL_COLL_SEND_RECV, false, false, Place::none, ring, one_block, one_block, [](int ranks, int rank, int) {
            return Blocks{{(rank + ranks - 1) % ranks, 0}};
        });
    all["xccl_recv"] = all["xccl_send"];
    return all;
}

}  // namespace

const NeedGroup& comm_io() {
    static const NeedGroup group = [] {
        NeedGroup made{E::xccl_get_unique_id, E::xccl_get_unique_id_size, E::xccl_comm_init_rank, E::xccl_destroy_comm,
                       E::synchronize_stream};
        made.list.insert(made.list.end(), memory_io().list.begin(), memory_io().list.end());
        return made;
    }();
    return group;
}

const Collective& collective_of(std::string_view entry) {
    static const auto all = all_collectives();
    const auto found = all.find(entry);
    if (found == all.end()) {
        throw HarnessError(std::string(entry) + " is no collective");
    }
    return found->second;
}

const Collective& collective_of(const Test& t) {
    return collective_of(t.entry()->name);
}

}  // namespace hal::conformance

#include "across_stages.hpp"

#include <cstring>

#include "partial.hpp"

namespace hal::xccl {

AcrossStages::AcrossStages(Across& across, const Operation& operation, Counters& counters,
                           const std::function<bool()>& idle)
    : hosts_(across.hosts()),
      host_(across.host()),
      operation_(operation),
      call_(operation.call),
      counters_(counters),
      idle_(idle),
      me_(across.rank()),
      my_host_(across.own_host()),
      ranks_(static_cast<uint64_t>(hosts_.rank_count())),
      locals_(hosts_.ranks_of(my_host_).size()),
      local_(static_cast<uint64_t>(hosts_.local_of(me_))),
      item_(call_.dtype == 0 ? 0 : element_bytes(call_.dtype)),
      partial_item_(call_.op == 0 ? item_ : partial_bytes(call_.dtype, call_.op)) {}

uint64_t AcrossStages::bytes_of_element() const noexcept {
    const uint64_t most = hosts_.most_ranks();
    switch (call_.kind) {
        case Kind::all_reduce:
        case Kind::reduce:
            return partial_item_;
        case Kind::reduce_scatter:
            return (ranks_ + static_cast<uint64_t>(hosts_.count()) * most) * partial_item_;
        case Kind::alltoall:
            return 2 * most * ranks_ * item_;
        case Kind::gather:
        case Kind::scatter:
            return (most + ranks_) * item_;
        case Kind::broadcast:
            return item_;
        default:
            return ranks_ * item_;
    }
}

Stages AcrossStages::of(const Piece& piece) {
    switch (call_.kind) {
        case Kind::all_reduce:
        case Kind::reduce:
            return all_reduce(piece);
        case Kind::reduce_scatter:
            return reduce_scatter(piece);
        case Kind::broadcast:
            return broadcast(piece);
        case Kind::alltoall:
            return alltoall(piece);
        case Kind::gather:
            return gather(piece);
        case Kind::scatter:
            return scatter(piece);
        default:
            return all_gather(piece);
    }
}

bool AcrossStages::bringing_meets() const noexcept {
    return call_.kind == Kind::all_reduce || call_.kind == Kind::reduce || call_.kind == Kind::reduce_scatter;
}

std::byte* AcrossStages::send(uint64_t block, uint64_t first) const noexcept {
    return operation_.send + (block * call_.count + first) * item_;
}

std::byte* AcrossStages::recv(uint64_t block, uint64_t first) const noexcept {
    return operation_.recv + (block * call_.count + first) * item_;
}

Mesh::Add AcrossStages::adder() const {
    return [dtype = call_.dtype, op = call_.op](std::byte* to, const std::byte* a, const std::byte* b, uint64_t count) {
        add_partials(dtype, op, to, a, b, count);
    };
}

// Sizes of what goes to or comes from each host; f(host) says how many blocks of n elements.
template <class F>
std::vector<uint64_t> AcrossStages::sizes(uint64_t n, uint64_t item, F&& f) const {
    std::vector<uint64_t> result;
    result.reserve(static_cast<size_t>(hosts_.count()));
    for (int32_t host = 0; host < hosts_.count(); ++host) {
        result.push_back(f(host) * n * item);
    }
    return result;
}

// Of all local ranks' data of a block, to the exchange area.
void AcrossStages::reduce_locally(uint64_t block, const Piece& piece, std::byte* to) {
    Operation part = operation_;
    part.call.kind = Kind::reduce;
    part.call.root = 0;
    part.call.count = piece.n;
    part.send = send(block, piece.first);
    part.recv = local_ == 0 ? to : nullptr;
    part.partial = true;
    run_collective(host_, part, counters_, idle_);
}

void AcrossStages::finish(std::span<const std::byte* const> partials, std::byte* to, uint64_t n) const {
    finish_partials(
        {.dtype = call_.dtype, .op = call_.op, .sources = partials, .targets = std::span(&to, 1), .count = n}, ranks_);
}

// ---- Each kind ----

Stages AcrossStages::all_reduce(const Piece& p) {
    return {[=, this] { reduce_locally(0, p, p.area); },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                if (call_.kind == Kind::all_reduce) {
                    mesh.all_reduce(run, p.area, p.area, {p.n, partial_item_}, adder());
                } else {
                    mesh.reduce(run, hosts_.host_of(call_.root), p.area, {p.n, partial_item_}, adder());
                }
            },
            [=, this] {
                if (call_.kind == Kind::all_reduce || call_.root == me_) {
                    const std::byte* const total = p.area;
                    finish(std::span(&total, 1), recv(0, p.first), p.n);
                }
            }};
}

Stages AcrossStages::reduce_scatter(const Piece& p) {
    std::byte* const in = p.area + ranks_ * p.n * partial_item_;
    return {[=, this] {
                for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
                    reduce_locally(static_cast<uint64_t>(rank), p,
                                   p.area + hosts_.place_of(rank) * p.n * partial_item_);
                }
            },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                mesh.all_to_all(run, p.area, sizes(p.n, partial_item_, [&](int32_t host) { return locals_of(host); }),
                                in, sizes(p.n, partial_item_, [&](int32_t) { return locals_; }));
            },
            [=, this] {
                std::vector<const std::byte*> partials;
                for (uint64_t host = 0; host < static_cast<uint64_t>(hosts_.count()); ++host) {
                    partials.push_back(in + (host * locals_ + local_) * p.n * partial_item_);
                }
                finish(partials, recv(0, p.first), p.n);
            }};
}

Stages AcrossStages::broadcast(const Piece& p) {
    const uint64_t bytes = p.n * item_;
    return {[=, this] {
                if (call_.root == me_) {
                    std::memcpy(p.area, send(0, p.first), bytes);
                }
            },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                mesh.broadcast(run, hosts_.host_of(call_.root), p.area, p.area, bytes);
            },
            [=, this] {
                if (call_.root != me_ || operation_.send != operation_.recv) {
                    std::memcpy(recv(0, p.first), p.area, bytes);
                }
            }};
}

Stages AcrossStages::all_gather(const Piece& p) {
    const uint64_t bytes = p.n * item_;
    return {[=, this] { std::memcpy(p.area + hosts_.place_of(me_) * bytes, send(0, p.first), bytes); },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                mesh.all_gather(run, p.area + hosts_.first_place(my_host_) * bytes, p.area,
                                sizes(p.n, item_, [&](int32_t host) { return locals_of(host); }));
            },
            [=, this] {
                for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
                    std::memcpy(recv(static_cast<uint64_t>(rank), p.first), p.area + hosts_.place_of(rank) * bytes,
                                bytes);
                }
            }};
}

// To each host its block: by rank here, then by rank there.
Stages AcrossStages::alltoall(const Piece& p) {
    const uint64_t bytes = p.n * item_;
    std::byte* const in = p.area + locals_ * ranks_ * bytes;
    const auto host_at = [this](int32_t rank) { return locals_ * hosts_.first_place(hosts_.host_of(rank)); };
    return {[=, this] {
                for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
                    const auto there = static_cast<uint64_t>(hosts_.local_of(rank));
                    const uint64_t place = host_at(rank) + local_ * locals_of(hosts_.host_of(rank)) + there;
                    std::memcpy(p.area + place * bytes, send(static_cast<uint64_t>(rank), p.first), bytes);
                }
            },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                const auto size = sizes(p.n, item_, [&](int32_t host) { return locals_ * locals_of(host); });
                mesh.all_to_all(run, p.area, size, in, size);
            },
            [=, this] {
                for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
                    const auto there = static_cast<uint64_t>(hosts_.local_of(rank));
                    const uint64_t place = host_at(rank) + there * locals_ + local_;
                    std::memcpy(recv(static_cast<uint64_t>(rank), p.first), in + place * bytes, bytes);
                }
            }};
}

Stages AcrossStages::gather(const Piece& p) {
    const uint64_t bytes = p.n * item_;
    const int32_t root_host = hosts_.host_of(call_.root);
    std::byte* const in = p.area + locals_ * bytes;
    return {[=, this] { std::memcpy(p.area + local_ * bytes, send(0, p.first), bytes); },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                const auto to = [&](int32_t host) { return host == root_host ? locals_ : 0; };
                const auto from = [&](int32_t host) { return my_host_ == root_host ? locals_of(host) : 0; };
                mesh.all_to_all(run, p.area, sizes(p.n, item_, to), in, sizes(p.n, item_, from));
            },
            [=, this] {
                for (int32_t rank = 0; rank < hosts_.rank_count() && call_.root == me_; ++rank) {
                    std::memcpy(recv(static_cast<uint64_t>(rank), p.first), in + hosts_.place_of(rank) * bytes, bytes);
                }
            }};
}

Stages AcrossStages::scatter(const Piece& p) {
    const uint64_t bytes = p.n * item_;
    const int32_t root_host = hosts_.host_of(call_.root);
    std::byte* const in = p.area + ranks_ * bytes;
    return {[=, this] {
                for (int32_t rank = 0; rank < hosts_.rank_count() && call_.root == me_; ++rank) {
                    std::memcpy(p.area + hosts_.place_of(rank) * bytes, send(static_cast<uint64_t>(rank), p.first),
                                bytes);
                }
            },
            [=, this](Mesh& mesh, const Mesh::Run& run) {
                const auto to = [&](int32_t host) { return my_host_ == root_host ? locals_of(host) : 0; };
                const auto from = [&](int32_t host) { return host == root_host ? locals_ : 0; };
                mesh.all_to_all(run, p.area, sizes(p.n, item_, to), in, sizes(p.n, item_, from));
            },
            [=, this] { std::memcpy(recv(0, p.first), in + local_ * bytes, bytes); }};
}

}  // namespace hal::xccl

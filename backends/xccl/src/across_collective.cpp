#include "across_collective.hpp"

#include <algorithm>
#include <cstring>

#include "partial.hpp"

namespace hal::xccl {
namespace {

bool all_alone(const Hosts& hosts) noexcept {
    return hosts.most_ranks() == 1;
}

// One collective. Offsets and sizes in the exchange area are bytes; its first part is what goes out, or all there is.
class AcrossRun {
  public:
    AcrossRun(Across& across, const Operation& operation, Counters& counters, const std::function<bool()>& idle)
        : across_(across),
          hosts_(across.hosts()),
          host_(across.host()),
          operation_(operation),
          call_(operation.call),
          number_(across.next_number()),
          counters_(counters),
          idle_(idle),
          me_(across.rank()),
          my_host_(across.own_host()),
          ranks_(static_cast<uint64_t>(hosts_.rank_count())),
          locals_(hosts_.ranks_of(my_host_).size()),
          local_(static_cast<uint64_t>(hosts_.local_of(me_))),
          item_(call_.dtype == 0 ? 0 : element_bytes(call_.dtype)),
          partial_item_(call_.op == 0 ? item_ : partial_bytes(call_.dtype, call_.op)),
          out_(host_.exchange_area()) {}

    void all() {
        agree(host_, call_, counters_, idle_);
        if (call_.count == 0 || call_.kind == Kind::barrier) {
            leaders([&](Mesh& mesh, const Mesh::Run& run) { mesh.barrier(run); });
            step();
        } else if (all_alone(hosts_) && can_go_directly()) {
            go_directly();
        } else {
            const uint64_t most = std::max<uint64_t>(exchange_bytes / bytes_of_element(), 1);
            for (uint64_t first = 0; first < call_.count; first += most) {
                chunk(first, std::min(most, call_.count - first));
            }
        }
    }

  private:
    // ---- The network ----

    template <class F>
    void leaders(F&& f) {
        if (local_ == 0) {
            across_.wait_for_hosts({Activity{.number = number_, .call = call_}}, [&](uint64_t timeout_ns) {
                f(across_.leaders(), Mesh::Run{static_cast<uint32_t>(tag_of(call_)), timeout_ns});
            });
        }
    }
    void step() { next_step(host_, counters_, idle_); }

    [[nodiscard]] Mesh::Add adder() const {
        return [dtype = call_.dtype, op = call_.op](std::byte* to, const std::byte* a, const std::byte* b,
                                                    uint64_t count) { add_partials(dtype, op, to, a, b, count); };
    }
    // Sizes of what goes to or comes from each host; f(host) says how many blocks of n elements.
    template <class F>
    [[nodiscard]] std::vector<uint64_t> sizes(uint64_t n, uint64_t item, F&& f) const {
        std::vector<uint64_t> result;
        for (int32_t host = 0; host < hosts_.count(); ++host) {
            result.push_back(f(host) * n * item);
        }
        return result;
    }
    [[nodiscard]] uint64_t locals_of(int32_t host) const noexcept { return hosts_.ranks_of(host).size(); }

    // ---- Where each host has one rank: no copies ----

    [[nodiscard]] bool can_go_directly() const noexcept {
        switch (call_.kind) {
            case Kind::all_reduce:
                return partial_item_ == item_ && operation_.scalar.empty();
            case Kind::broadcast:
            case Kind::all_gather:
            case Kind::alltoall:
            case Kind::exchange:
                return true;
            default:
                return false;
        }
    }
    void go_directly() {
        const uint64_t bytes = call_.count * item_;
        const std::vector<uint64_t> each = sizes(call_.count, item_, [](int32_t) { return uint64_t{1}; });
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            switch (call_.kind) {
                case Kind::all_reduce:
                    return mesh.all_reduce(run, operation_.send, operation_.recv, {call_.count, item_}, adder());
                case Kind::broadcast:
                    return mesh.broadcast(run, hosts_.host_of(call_.root), operation_.send, operation_.recv, bytes);
                case Kind::alltoall:
                    return mesh.all_to_all(run, operation_.send, each, operation_.recv, each);
                default:
                    return mesh.all_gather(run, operation_.send, operation_.recv, each);
            }
        });
        if (call_.op == HAL_REDUCE_AVG) {
            const std::byte* const total = operation_.recv;
            finish(std::span(&total, 1), operation_.recv, call_.count);
        }
    }

    // ---- Through the exchange area: elements [first, first + n) of each block ----

    // How much of the area an element of every block takes; on all hosts the same.
    [[nodiscard]] uint64_t bytes_of_element() const noexcept {
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

    void chunk(uint64_t first, uint64_t n) {
        switch (call_.kind) {
            case Kind::all_reduce:
            case Kind::reduce:
                return all_reduce(first, n);
            case Kind::reduce_scatter:
                return reduce_scatter(first, n);
            case Kind::broadcast:
                return broadcast(first, n);
            case Kind::alltoall:
                return alltoall(first, n);
            case Kind::gather:
                return gather(first, n);
            case Kind::scatter:
                return scatter(first, n);
            default:
                return all_gather(first, n);
        }
    }

    [[nodiscard]] std::byte* send(uint64_t block, uint64_t first) const noexcept {
        return operation_.send + (block * call_.count + first) * item_;
    }
    [[nodiscard]] std::byte* recv(uint64_t block, uint64_t first) const noexcept {
        return operation_.recv + (block * call_.count + first) * item_;
    }

    // Of all local ranks' data of a block, to the exchange area.
    void reduce_locally(uint64_t block, uint64_t first, uint64_t n, std::byte* to) {
        Operation part = operation_;
        part.call.kind = Kind::reduce;
        part.call.root = 0;
        part.call.count = n;
        part.send = send(block, first);
        part.recv = local_ == 0 ? to : nullptr;
        part.partial = true;
        run_collective(host_, part, counters_, idle_);
    }
    void finish(std::span<const std::byte* const> partials, std::byte* to, uint64_t n) const {
        finish_partials(
            {.dtype = call_.dtype, .op = call_.op, .sources = partials, .targets = std::span(&to, 1), .count = n},
            ranks_);
    }

    void all_reduce(uint64_t first, uint64_t n) {
        reduce_locally(0, first, n, out_);
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            if (call_.kind == Kind::all_reduce) {
                mesh.all_reduce(run, out_, out_, {n, partial_item_}, adder());
            } else {
                mesh.reduce(run, hosts_.host_of(call_.root), out_, {n, partial_item_}, adder());
            }
        });
        step();
        if (call_.kind == Kind::all_reduce || call_.root == me_) {
            const std::byte* const total = out_;
            finish(std::span(&total, 1), recv(0, first), n);
        }
        step();
    }

    void reduce_scatter(uint64_t first, uint64_t n) {
        for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
            reduce_locally(static_cast<uint64_t>(rank), first, n, out_ + hosts_.place_of(rank) * n * partial_item_);
        }
        std::byte* const in = out_ + ranks_ * n * partial_item_;
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            mesh.all_to_all(run, out_, sizes(n, partial_item_, [&](int32_t host) { return locals_of(host); }), in,
                            sizes(n, partial_item_, [&](int32_t) { return locals_; }));
        });
        step();
        std::vector<const std::byte*> partials;
        for (uint64_t host = 0; host < static_cast<uint64_t>(hosts_.count()); ++host) {
            partials.push_back(in + (host * locals_ + local_) * n * partial_item_);
        }
        finish(partials, recv(0, first), n);
        step();
    }

    void broadcast(uint64_t first, uint64_t n) {
        if (call_.root == me_) {
            std::memcpy(out_, send(0, first), n * item_);
        }
        step();
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            mesh.broadcast(run, hosts_.host_of(call_.root), out_, out_, n * item_);
        });
        step();
        if (call_.root != me_ || operation_.send != operation_.recv) {
            std::memcpy(recv(0, first), out_, n * item_);
        }
        step();
    }

    void all_gather(uint64_t first, uint64_t n) {
        std::memcpy(out_ + hosts_.place_of(me_) * n * item_, send(0, first), n * item_);
        step();
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            mesh.all_gather(run, out_ + hosts_.first_place(my_host_) * n * item_, out_,
                            sizes(n, item_, [&](int32_t host) { return locals_of(host); }));
        });
        step();
        for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
            std::memcpy(recv(static_cast<uint64_t>(rank), first), out_ + hosts_.place_of(rank) * n * item_, n * item_);
        }
        step();
    }

    // To each host its block: by rank here, then by rank there.
    void alltoall(uint64_t first, uint64_t n) {
        const uint64_t block = n * item_;
        const auto size = sizes(n, item_, [&](int32_t host) { return locals_ * locals_of(host); });
        std::byte* const in = out_ + locals_ * ranks_ * block;
        const auto host_at = [&](int32_t rank) { return locals_ * hosts_.first_place(hosts_.host_of(rank)); };
        for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
            const auto there = static_cast<uint64_t>(hosts_.local_of(rank));
            const uint64_t place = host_at(rank) + local_ * locals_of(hosts_.host_of(rank)) + there;
            std::memcpy(out_ + place * block, send(static_cast<uint64_t>(rank), first), block);
        }
        step();
        leaders([&](Mesh& mesh, const Mesh::Run& run) { mesh.all_to_all(run, out_, size, in, size); });
        step();
        for (int32_t rank = 0; rank < hosts_.rank_count(); ++rank) {
            const auto there = static_cast<uint64_t>(hosts_.local_of(rank));
            const uint64_t place = host_at(rank) + there * locals_ + local_;
            std::memcpy(recv(static_cast<uint64_t>(rank), first), in + place * block, block);
        }
        step();
    }

    void gather(uint64_t first, uint64_t n) {
        const int32_t root_host = hosts_.host_of(call_.root);
        std::byte* const in = out_ + locals_ * n * item_;
        std::memcpy(out_ + local_ * n * item_, send(0, first), n * item_);
        step();
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            mesh.all_to_all(run, out_, sizes(n, item_, [&](int32_t host) { return host == root_host ? locals_ : 0; }),
                            in,
                            sizes(n, item_, [&](int32_t host) { return my_host_ == root_host ? locals_of(host) : 0; }));
        });
        step();
        for (int32_t rank = 0; rank < hosts_.rank_count() && call_.root == me_; ++rank) {
            std::memcpy(recv(static_cast<uint64_t>(rank), first), in + hosts_.place_of(rank) * n * item_, n * item_);
        }
        step();
    }

    void scatter(uint64_t first, uint64_t n) {
        const int32_t root_host = hosts_.host_of(call_.root);
        std::byte* const in = out_ + ranks_ * n * item_;
        for (int32_t rank = 0; rank < hosts_.rank_count() && call_.root == me_; ++rank) {
            std::memcpy(out_ + hosts_.place_of(rank) * n * item_, send(static_cast<uint64_t>(rank), first), n * item_);
        }
        step();
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            mesh.all_to_all(run, out_,
                            sizes(n, item_, [&](int32_t host) { return my_host_ == root_host ? locals_of(host) : 0; }),
                            in, sizes(n, item_, [&](int32_t host) { return host == root_host ? locals_ : 0; }));
        });
        step();
        std::memcpy(recv(0, first), in + local_ * n * item_, n * item_);
        step();
    }

    Across& across_;
    const Hosts& hosts_;
    Host& host_;
    const Operation& operation_;
    const Call& call_;
    const uint64_t number_;
    Counters& counters_;
    const std::function<bool()>& idle_;
    const int32_t me_;
    const int32_t my_host_;
    const uint64_t ranks_;
    const uint64_t locals_;
    const uint64_t local_;
    const uint64_t item_;
    const uint64_t partial_item_;
    std::byte* const out_;
};

}  // namespace

void run_across(Across& across, const Operation& operation, Counters& counters, const std::function<bool()>& idle) {
    AcrossRun(across, operation, counters, idle).all();
}

}  // namespace hal::xccl

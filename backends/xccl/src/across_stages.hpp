// What the ranks of a host and its leader do in a collective across hosts, for each kind of it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "across.hpp"
#include "collective.hpp"

namespace hal::xccl {

// Elements [first, first + n) of each block, and their part of the exchange area.
struct Piece {
    uint64_t first;
    uint64_t n;
    std::byte* area;
};

// What is done with one: the ranks of a host put in what they bring, the leader exchanges it, the ranks take theirs.
struct Stages {
    std::function<void()> bring;
    std::function<void(Mesh&, const Mesh::Run&)> exchange;
    std::function<void()> take;
};

// Of one collective, which it refers to. Offsets and sizes in the exchange area are bytes; the first part of a piece's
// is what goes out, or all there is.
class AcrossStages {
  public:
    AcrossStages(Across& across, const Operation& operation, Counters& counters, const std::function<bool()>& idle);

    // How much of the exchange area an element of every block takes; on all hosts the same.
    [[nodiscard]] uint64_t bytes_of_element() const noexcept;
    [[nodiscard]] Stages of(const Piece& piece);
    // Does `bring` make all ranks of the host meet?
    [[nodiscard]] bool bringing_meets() const noexcept;

    // ---- Also of use without the exchange area ----

    // Bytes of an element, and of a partial result of it.
    [[nodiscard]] uint64_t item() const noexcept { return item_; }
    [[nodiscard]] uint64_t partial_item() const noexcept { return partial_item_; }
    [[nodiscard]] Mesh::Add adder() const;
    // Elements from partial results of all hosts.
    void finish(std::span<const std::byte* const> partials, std::byte* to, uint64_t n) const;

  private:
    [[nodiscard]] Stages all_reduce(const Piece& p);
    [[nodiscard]] Stages reduce_scatter(const Piece& p);
    [[nodiscard]] Stages broadcast(const Piece& p);
    [[nodiscard]] Stages all_gather(const Piece& p);
    [[nodiscard]] Stages alltoall(const Piece& p);
    [[nodiscard]] Stages gather(const Piece& p);
    [[nodiscard]] Stages scatter(const Piece& p);

    void reduce_locally(uint64_t block, const Piece& piece, std::byte* to);
    [[nodiscard]] std::byte* send(uint64_t block, uint64_t first) const noexcept;
    [[nodiscard]] std::byte* recv(uint64_t block, uint64_t first) const noexcept;
    [[nodiscard]] uint64_t locals_of(int32_t host) const noexcept { return hosts_.ranks_of(host).size(); }
    template <class F>
    [[nodiscard]] std::vector<uint64_t> sizes(uint64_t n, uint64_t item, F&& f) const;

    const Hosts& hosts_;
    Host& host_;
    const Operation& operation_;
    const Call& call_;
    Counters& counters_;
    const std::function<bool()>& idle_;
    const int32_t me_;
    const int32_t my_host_;
    const uint64_t ranks_;
    const uint64_t locals_;
    const uint64_t local_;
    const uint64_t item_;
    const uint64_t partial_item_;
};

}  // namespace hal::xccl

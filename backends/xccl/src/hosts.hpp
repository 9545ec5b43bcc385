// Which rank of a communicator runs on which host. Hosts are numbered in the order of their first ranks; the first rank
// of a host leads it.
#pragma once

#include <cstdint>
#include <vector>

#include "introduction.hpp"

namespace hal::xccl {

class Hosts {
  public:
    explicit Hosts(const std::vector<Introduction>& ranks);

    [[nodiscard]] int32_t count() const noexcept { return static_cast<int32_t>(ranks_.size()); }
    [[nodiscard]] int32_t rank_count() const noexcept { return static_cast<int32_t>(host_.size()); }
    [[nodiscard]] int32_t host_of(int32_t rank) const noexcept { return host_[index(rank)]; }
    // Among the ranks of its host.
    [[nodiscard]] int32_t local_of(int32_t rank) const noexcept { return local_[index(rank)]; }
    [[nodiscard]] const std::vector<int32_t>& ranks_of(int32_t host) const noexcept { return ranks_[index(host)]; }
    [[nodiscard]] int32_t leader_of(int32_t host) const noexcept { return ranks_of(host).front(); }
    // If all ranks stand in a row, host by host.
    [[nodiscard]] uint64_t place_of(int32_t rank) const noexcept {
        return first_[index(host_of(rank))] + static_cast<uint64_t>(local_of(rank));
    }
    [[nodiscard]] uint64_t first_place(int32_t host) const noexcept { return first_[index(host)]; }
    // Of the host that has the most.
    [[nodiscard]] uint64_t most_ranks() const noexcept { return most_ranks_; }

  private:
    [[nodiscard]] static size_t index(int32_t number) noexcept { return static_cast<size_t>(number); }

    std::vector<std::vector<int32_t>> ranks_;  // of each host
    std::vector<uint64_t> first_;              // of each host: ranks on hosts before it
    std::vector<int32_t> host_, local_;        // of each rank
    uint64_t most_ranks_ = 0;
};

}  // namespace hal::xccl

// Ranks on several hosts: their connections, waiting for each other, and messages from rank to rank.
#pragma once

#include <memory>
#include <vector>

#include "alarm.hpp"
#include "hosts.hpp"
#include "network.hpp"
#include "operation.hpp"

namespace hal::xccl {

// The same on all ranks that run the same, and hardly ever on others: who calls something else finds no partner, and
// the alarm tells why.
[[nodiscard]] uint64_t tag_of(const Call& call, uint64_t number = 0) noexcept;

class Across {
  public:
    // Blocks until all ranks are connected. Throws what sockets and the network throw.
    Across(const Hosts& hosts, const std::vector<Introduction>& ranks, int32_t rank, const Presence& own, Host& host,
           const Secret& secret, Deadline deadline);

    [[nodiscard]] const Hosts& hosts() const noexcept { return hosts_; }
    [[nodiscard]] Host& host() noexcept { return host_; }
    [[nodiscard]] int32_t rank() const noexcept { return rank_; }
    [[nodiscard]] int32_t own_host() const noexcept { return hosts_.host_of(rank_); }

    // Of the collectives, from 1; the same on all ranks.
    [[nodiscard]] uint64_t next_number() noexcept { return ++numbers_; }

    // Messages with ranks of other hosts: all are on their way when it returns.
    class Messages {
      public:
        Messages(Across& across, const std::vector<Message>& messages);
        // Throws what made the communicator fail.
        void finish();

      private:
        Across& across_;
        std::vector<Activity> activities_;
        std::vector<std::unique_ptr<Transfer>> transfers_;
        std::byte nothing_{};  // what a message of no elements carries
    };

    // Lets f(timeout_ns) wait for other hosts. Its error becomes the communicator's, unless that has a better reason.
    template <class F>
    void wait_for_hosts(std::vector<Activity> activities, F&& f) {
        alarm_.begin(std::move(activities));
        try {
            f(host_.timeout_ns());
        } catch (const sdk::Error& error) {
            fail(error.status());
        }
        alarm_.end();
        host_.throw_if_failed();
    }
    [[nodiscard]] Mesh& leaders() noexcept { return *leaders_; }

  private:
    // Where a rank finds another one, and where its leader finds that one if it leads.
    struct Addresses {
        MeshAddress rank{}, leader{};
    };
    [[nodiscard]] bool is_leader(int32_t rank) const noexcept;
    // By rank, for this one.
    [[nodiscard]] std::vector<Addresses> exchange_addresses(Deadline deadline);
    void connect(const std::vector<Addresses>& theirs);
    void fail(hal_status status);

    const Hosts hosts_;
    const int32_t rank_;
    Host& host_;
    uint64_t numbers_ = 0;
    std::unique_ptr<Network> network_;
    std::unique_ptr<Mesh> leaders_;  // of leaders: the hosts, by number
    std::unique_ptr<Mesh> ranks_;    // ranks of other hosts
    Alarm alarm_;                    // watches, so it goes first
};

}  // namespace hal::xccl

// Collectives among ranks on several hosts: what a host's ranks bring is put together in the memory that they share,
// the leaders of the hosts exchange it over the network, and every rank takes its part from there. Where each host has
// one rank the network works on the ranks' own memory. Messages go from rank to rank.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "alarm.hpp"
#include "collective.hpp"
#include "hosts.hpp"
#include "network.hpp"

namespace hal::xccl {

class Across {
  public:
    // Blocks until all ranks are connected. Throws what sockets and the network throw.
    Across(const Hosts& hosts, const std::vector<Introduction>& ranks, int32_t rank, const Presence& own, Host& host,
           const Secret& secret, Deadline deadline);

    [[nodiscard]] const Hosts& hosts() const noexcept { return hosts_; }
    [[nodiscard]] Host& host() noexcept { return host_; }
    [[nodiscard]] int32_t rank() const noexcept { return rank_; }
    [[nodiscard]] int32_t own_host() const noexcept { return hosts_.host_of(rank_); }

    // As run_collective(), with ranks of the communicator.
    void run(const Operation& operation, Counters& counters, const std::function<bool()>& idle);

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
    void fail(hal_status status);

    const Hosts hosts_;
    const int32_t rank_;
    Host& host_;
    uint64_t operations_ = 0;
    std::unique_ptr<Network> network_;
    std::unique_ptr<Mesh> leaders_;  // of leaders: the hosts, by number
    std::unique_ptr<Mesh> ranks_;    // ranks of other hosts
    Alarm alarm_;                    // watches, so it goes first
};

}  // namespace hal::xccl

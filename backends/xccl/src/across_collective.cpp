#include "across_collective.hpp"

#include <algorithm>
#include <future>
#include <system_error>
#include <utility>

#include "across_stages.hpp"
#include "signals_blocked.hpp"

namespace hal::xccl {
namespace {

class AcrossRun {
  public:
    AcrossRun(Across& across, const Operation& operation, Counters& counters, const std::function<bool()>& idle)
        : across_(across),
          host_(across.host()),
          operation_(operation),
          call_(operation.call),
          number_(across.next_number()),
          counters_(counters),
          idle_(idle),
          stages_(across, operation, counters, idle) {}

    void all() {
        agree(host_, call_, counters_, idle_);
        if (call_.count == 0 || call_.kind == Kind::barrier) {
            leaders([&](Mesh& mesh, const Mesh::Run& run) { mesh.barrier(run); });
            step();
        } else if (across_.hosts().most_ranks() == 1 && can_go_directly()) {
            go_directly();
        } else {
            piece_by_piece();
        }
    }

  private:
    [[nodiscard]] bool leads() const noexcept { return host_.rank() == 0; }
    template <class F>
    void leaders(F&& f) {
        if (leads()) {
            across_.wait_for_hosts({Activity{.number = number_, .call = call_}}, [&](uint64_t timeout_ns) {
                f(across_.leaders(), Mesh::Run{static_cast<uint32_t>(tag_of(call_)), timeout_ns});
            });
        }
    }
    void step() { next_step(host_, counters_, idle_); }

    // ---- Where each host has one rank: no copies ----

    [[nodiscard]] bool can_go_directly() const noexcept {
        switch (call_.kind) {
            case Kind::all_reduce:
                return stages_.partial_item() == stages_.item() && operation_.scalar.empty();
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
        const uint64_t bytes = call_.count * stages_.item();
        const std::vector<uint64_t> each(static_cast<size_t>(across_.hosts().count()), bytes);
        leaders([&](Mesh& mesh, const Mesh::Run& run) {
            switch (call_.kind) {
                case Kind::all_reduce:
                    return mesh.all_reduce(run, operation_.send, operation_.recv, {call_.count, stages_.item()},
                                           stages_.adder());
                case Kind::broadcast:
                    return mesh.broadcast(run, across_.hosts().host_of(call_.root), operation_.send, operation_.recv,
                                          bytes);
                case Kind::alltoall:
                    return mesh.all_to_all(run, operation_.send, each, operation_.recv, each);
                default:
                    return mesh.all_gather(run, operation_.send, operation_.recv, each);
            }
        });
        if (call_.op == HAL_REDUCE_AVG) {
            const std::byte* const total = operation_.recv;
            stages_.finish(std::span(&total, 1), operation_.recv, call_.count);
        }
    }

    // ---- Through the exchange area ----

    // While one piece is with the other hosts, what came with the one before is taken and the next is brought.
    void piece_by_piece() {
        const uint64_t item = stages_.bytes_of_element();
        const bool one = call_.count <= exchange_bytes / item;
        const uint64_t room = one ? exchange_bytes : exchange_bytes / 2;
        const uint64_t most = std::max<uint64_t>(room / item, 1);
        Stages now;
        std::future<void> exchange;  // waits when it ends
        for (uint64_t first = 0, i = 0; first < call_.count || now.take; first += most, ++i) {
            const Stages before = std::exchange(now, {});
            if (first < call_.count) {
                now = stages_.of({first, std::min(most, call_.count - first), host_.exchange_area() + i % 2 * room});
                now.bring();
            }
            if (exchange.valid()) {
                exchange.get();
            }
            if (i > 0 || !stages_.bringing_meets()) {
                step();
            }
            if (now.exchange && one) {
                leaders(now.exchange);
            } else if (now.exchange && leads()) {
                exchange = on_a_thread(now.exchange);
            }
            if (before.take) {
                before.take();
                step();
            }
        }
    }

    // The leader goes on with the others meanwhile.
    [[nodiscard]] std::future<void> on_a_thread(std::function<void(Mesh&, const Mesh::Run&)> exchange) {
        const shared::SignalsBlocked blocked;
        try {
            return std::async(std::launch::async, [this, exchange = std::move(exchange)] { leaders(exchange); });
        } catch (const std::system_error& error) {
            throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                             std::string("no thread for the exchange between hosts: ") + error.what(),
                             error.code().value());
        }
    }

    Across& across_;
    Host& host_;
    const Operation& operation_;
    const Call& call_;
    const uint64_t number_;
    Counters& counters_;
    const std::function<bool()>& idle_;
    AcrossStages stages_;
};

}  // namespace

void run_across(Across& across, const Operation& operation, Counters& counters, const std::function<bool()>& idle) {
    AcrossRun(across, operation, counters, idle).all();
}

}  // namespace hal::xccl

// One rank of a communicator: the order of its operations, and running them. What is issued together (a group, or one
// operation) is a batch; batches run one after the other in the order in which they were issued, on whatever streams.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "across.hpp"
#include "collective.hpp"
#include "host.hpp"
#include "operation.hpp"
#include "port.hpp"

namespace hal::xccl {

// Padded on purpose: what the issuing and the running threads write lie apart.
class Communicator {  // NOLINT(clang-analyzer-optin.performance.Padding)
  public:
    struct Place {
        hal_dev device;
        int32_t rank;
        int32_t size;
        Address network;  // of this machine, where ranks of other hosts reach this one
    };
    // `across`: nullptr if all ranks are on this host.
    Communicator(Port& port, const Place& place, std::unique_ptr<Host> host, std::unique_ptr<Across> across);
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] hal_dev device() const noexcept { return place_.device; }
    [[nodiscard]] int32_t rank() const noexcept { return place_.rank; }
    [[nodiscard]] int32_t size() const noexcept { return place_.size; }
    [[nodiscard]] const Address& network() const noexcept { return place_.network; }
    [[nodiscard]] Host& host() noexcept { return *host_; }

    // Throws the communicator's failure.
    void require_usable() const;

    // What one thread issues together.
    struct Issue {
        std::vector<hal_stream> streams;  // each once; the first one runs it, the others wait for it
        std::vector<Operation> operations;
        std::vector<Message> messages;
    };
    // Both throw the communicator's failure, and what the streams throw; nothing is issued then.
    void issue(Issue what);
    void issue(hal_stream stream, const Operation& operation);

    // Collective, blocking, in the order of the other operations: the bytes of every rank, in their order.
    [[nodiscard]] std::vector<std::byte> exchange(const std::vector<std::byte>& own);

    // Until nothing that was issued is left.
    void drain() noexcept;
    // Ends what runs and all that comes; idempotent.
    void abort() noexcept;
    // No more operations; those that were issued are completed. Throws the failure.
    void finish();

  private:
    friend class Batch;
    friend class Work;

    void require_open() const;
    void await_turn(uint64_t turn);
    // The last that work does with the communicator, which may be gone then. `leads`: it had a turn.
    void end_work(uint64_t turn, bool leads) noexcept;
    void run(const Operation& operation, const std::function<bool()>& idle);
    void run_reachable(const Operation& operation, const std::function<bool()>& idle);
    void run_batch(std::vector<Operation>& operations, std::vector<Message>& messages);
    void run_lone(const Work::Lone& lone, hal_status stream_status);

    Port& port_;
    const Place place_;
    std::unique_ptr<Host> host_;
    std::unique_ptr<Across> across_;

    std::mutex issue_mutex_;     // guards what follows
    uint64_t issued_turns_ = 0;  // batches and lone collectives
    uint64_t issued_work_ = 0;   // a piece for each of their streams
    bool finished_ = false;
    std::vector<uint64_t> sent_, received_;  // messages to and from each rank

    alignas(64) std::atomic<uint64_t> turn_{0};  // whose turn it is
    std::atomic<uint64_t> ended_work_{0};

    // Of whose turn it is.
    Counters counters_;
};

// Deletes itself when it has run on all its streams.
class Batch {
  public:
    Batch(Communicator& communicator, uint64_t turn, Communicator::Issue what)
        : communicator_(communicator), turn_(turn), what_(std::move(what)), left_(what_.streams.size()) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // On the first stream, which runs it, and on the others, which wait for that.
    void run(hal_status stream_status, bool leads);
    // Some streams will never run it.
    void forget(uint64_t streams) noexcept;

  private:
    void lead();
    void follow();

    Communicator& communicator_;
    const uint64_t turn_;
    Communicator::Issue what_;
    std::atomic<uint64_t> left_;
    std::atomic<uint64_t> arrived_{0};  // other streams
    std::atomic<bool> ended_{false};
};

}  // namespace hal::xccl

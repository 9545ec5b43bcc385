// One rank of a communicator: the order of its operations, and running them. What is issued together (a group, or one
// operation) is a batch; batches run one after the other in the order in which they were issued, on whatever streams.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "host.hpp"
#include "operation.hpp"
#include "port.hpp"

namespace hal::xccl {

class Communicator {
  public:
    struct Place {
        hal_dev device;
        int32_t rank;
        int32_t size;
    };
    Communicator(Port& port, const Place& place, std::unique_ptr<Host> host);
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    [[nodiscard]] hal_dev device() const noexcept { return place_.device; }
    [[nodiscard]] int32_t rank() const noexcept { return place_.rank; }
    [[nodiscard]] int32_t size() const noexcept { return place_.size; }
    [[nodiscard]] Host& host() noexcept { return *host_; }

    // Throws the communicator's failure.
    void require_usable() const;

    // What one thread issues together.
    struct Issue {
        std::vector<hal_stream> streams;  // each once; the first one runs it, the others wait for it
        std::vector<Operation> operations;
        std::vector<Message> messages;
    };
    // Throws what the streams throw.
    static void issue(const std::shared_ptr<Communicator>& self, Issue what);

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

    [[nodiscard]] uint64_t take_turn();
    void await_turn(uint64_t turn);
    void end_turn(uint64_t turn) noexcept;

    Port& port_;
    const Place place_;
    std::unique_ptr<Host> host_;

    std::mutex issue_mutex_;  // guards what follows
    uint64_t issued_ = 0;     // batches
    bool finished_ = false;
    std::vector<uint64_t> sent_, received_;  // messages to and from each rank

    std::atomic<uint64_t> turn_{0};   // the batch whose turn it is
    std::atomic<uint64_t> ended_{0};  // batches

    // Of the batch whose turn it is.
    uint64_t sequence_ = 0;  // collectives so far
    uint64_t step_ = 1;      // the set-up was the first
};

class Batch {
  public:
    Batch(std::shared_ptr<Communicator> communicator, uint64_t turn, Communicator::Issue what)
        : communicator_(std::move(communicator)), turn_(turn), what_(std::move(what)) {}
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // On the first stream.
    void lead(hal_status stream_status);
    // On the others.
    void follow(hal_status stream_status);

  private:
    void run();

    std::shared_ptr<Communicator> communicator_;
    const uint64_t turn_;
    Communicator::Issue what_;
    std::atomic<uint64_t> arrived_{0};  // other streams
    std::atomic<uint64_t> ended_{0};
};

}  // namespace hal::xccl

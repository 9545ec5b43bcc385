#include "communicator.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "across_collective.hpp"
#include "local_wait.hpp"
#include "messages.hpp"
#include "staged.hpp"

namespace hal::xccl {

Communicator::Communicator(Port& port, const Place& place, std::unique_ptr<Host> host, std::unique_ptr<Across> across)
    : port_(port),
      place_(place),
      host_(std::move(host)),
      across_(std::move(across)),
      sent_(static_cast<size_t>(place.size), 0),
      received_(static_cast<size_t>(place.size), 0) {}

void Communicator::require_usable() const {
    host_->throw_if_failed();
}

void Communicator::require_open() const {
    require_usable();
    if (finished_) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the communicator was finalized; destroy it");
    }
}

// ---- Issuing ----

void Communicator::issue(hal_stream stream, const Operation& operation) {
    if (!operation.scalar.empty()) {
        return issue({{stream}, {operation}, {}});
    }
    const std::lock_guard lock(issue_mutex_);
    require_open();
    const Call& call = operation.call;
    port_.enqueue(device(), stream,
                  Work(Work::Lone{this, issued_turns_, call.count, operation.send, operation.recv, call.dtype,
                                  static_cast<int16_t>(call.root), static_cast<uint8_t>(call.kind),
                                  static_cast<uint8_t>(call.op)}));
    ++issued_turns_;
    ++issued_work_;
}

void Communicator::issue(Issue what) {
    const std::lock_guard lock(issue_mutex_);
    require_open();
    // Counted once all is enqueued.
    auto sent = sent_;
    auto received = received_;
    for (Message& message : what.messages) {
        message.number = ++(message.send ? sent : received)[static_cast<size_t>(message.peer)];
    }
    const std::vector<hal_stream> streams = what.streams;
    auto batch = std::make_unique<Batch>(*this, issued_turns_, std::move(what));
    size_t enqueued = 0;
    try {
        for (const hal_stream stream : streams) {
            port_.enqueue(device(), stream, Work(*batch, enqueued == 0));
            ++enqueued;
        }
    } catch (...) {
        if (enqueued != 0) {
            ++issued_turns_;
            issued_work_ += enqueued;
            host_->fail(HAL_ERROR_REMOTE, host_->rank());  // the first stream waits for the others
            batch.release()->forget(streams.size() - enqueued);
        }
        throw;
    }
    static_cast<void>(batch.release());
    sent_ = std::move(sent);
    received_ = std::move(received);
    ++issued_turns_;
    issued_work_ += enqueued;
}

// ---- Order ----

void Communicator::await_turn(uint64_t turn) {
    if (turn_.load(std::memory_order_acquire) == turn) [[likely]] {
        return;
    }
    wait_local([&] {
        host_->throw_if_failed();
        return turn_.load(std::memory_order_seq_cst) == turn;
    });
}

void Communicator::end_work(uint64_t turn, bool leads) noexcept {
    if (leads && turn_.load(std::memory_order_relaxed) == turn) {  // after a failure they end in any order
        turn_.store(turn + 1, std::memory_order_release);
    }
    ended_work_.fetch_add(1, std::memory_order_seq_cst);
    wake_local();
}

void Communicator::drain() noexcept {
    uint64_t issued = 0;
    {
        const std::lock_guard lock(issue_mutex_);
        finished_ = true;
        issued = issued_work_;
    }
    wait_local([&] { return ended_work_.load(std::memory_order_seq_cst) == issued; });
}

void Communicator::abort() noexcept {
    host_->fail(HAL_ERROR_ABORTED, host_->rank());
}

void Communicator::finish() {
    drain();
    host_->throw_if_failed();
}

// ---- Running ----

void Communicator::run(const Operation& operation, const std::function<bool()>& idle) {
    StagingMemory* const staging = operation.call.kind == Kind::exchange ? nullptr : port_.staging(device());
    if (staging != nullptr && operation.call.count != 0) {
        run_staged({port_, *staging, device(), rank(), static_cast<uint64_t>(size()), port_.copies_by_itself(device())},
                   operation, [&](const Operation& part) { run_reachable(part, idle); });
    } else {
        run_reachable(operation, idle);
    }
}

// Data in memory of the host.
void Communicator::run_reachable(const Operation& operation, const std::function<bool()>& idle) {
    if (across_ == nullptr) {
        run_collective(*host_, operation, counters_, idle);
    } else {
        run_across(*across_, operation, counters_, idle);
    }
}

namespace {

// Those with ranks of other hosts; the others stay, with the ranks that their peers have on this one.
std::vector<Message> take_remote(const Across& across, std::vector<Message>& messages) {
    const Hosts& hosts = across.hosts();
    const auto remote = std::stable_partition(messages.begin(), messages.end(), [&](const Message& message) {
        return hosts.host_of(message.peer) == across.own_host();
    });
    std::vector<Message> elsewhere(remote, messages.end());
    messages.erase(remote, messages.end());
    for (Message& message : messages) {
        message.peer = hosts.local_of(message.peer);
    }
    return elsewhere;
}

}  // namespace

void Communicator::run_batch(std::vector<Operation>& operations, std::vector<Message>& messages) {
    StagedMessages staged(port_, device(), messages);
    std::optional<Across::Messages> network;
    if (across_ != nullptr) {
        network.emplace(*across_, take_remote(*across_, messages));
    }
    Messages all(*host_, messages);
    all.progress();
    for (const Operation& operation : operations) {
        run(operation, [&] { return all.progress(); });
    }
    all.finish();
    if (network) {
        network->finish();
    }
    staged.finish();
}

namespace {

bool nothing_else() {
    return false;
}

// Whatever is thrown, the other ranks must not wait in vain.
template <class F>
void run_or_fail(const Host& host, hal_status stream_status, F&& f) {
    if (stream_status != HAL_OK) {
        host.fail(HAL_ERROR_REMOTE, host.rank());
        return;
    }
    try {
        f();
    } catch (...) {
        host.fail(HAL_ERROR_REMOTE, host.rank());  // unless it has failed already
        throw;
    }
}

}  // namespace

void Communicator::run_lone(const Work::Lone& lone, hal_status stream_status) {
    struct End {
        const Work::Lone& lone;
        ~End() { lone.communicator->end_work(lone.turn, true); }
    } const end{lone};
    run_or_fail(*host_, stream_status, [&] {
        host_->throw_if_failed();
        await_turn(lone.turn);
        Operation operation;
        operation.call = {static_cast<Kind>(lone.kind), lone.dtype, lone.op, lone.root, lone.count};
        operation.send = lone.send;
        operation.recv = lone.recv;
        run(operation, nothing_else);
    });
}

std::vector<std::byte> Communicator::exchange(const std::vector<std::byte>& own) {
    std::vector<std::byte> send = own;
    std::vector<std::byte> all(own.size() * static_cast<size_t>(size()));
    Operation operation;
    operation.call = {.kind = Kind::exchange, .dtype = HAL_U8, .count = own.size()};
    operation.send = send.data();
    operation.recv = all.data();
    uint64_t turn = 0;
    {
        const std::lock_guard lock(issue_mutex_);
        require_open();
        turn = issued_turns_++;
        ++issued_work_;
    }
    struct End {
        Communicator& communicator;
        uint64_t turn;
        ~End() { communicator.end_work(turn, true); }
    } const end{*this, turn};
    run_or_fail(*host_, HAL_OK, [&] {
        await_turn(turn);
        run(operation, nothing_else);
    });
    return all;
}

// ---- Batches ----

void Batch::run(hal_status stream_status, bool leads) {
    struct End {
        Batch* batch;
        bool leads;
        ~End() {
            Communicator& communicator = batch->communicator_;
            const uint64_t turn = batch->turn_;
            if (leads) {
                batch->ended_.store(true, std::memory_order_seq_cst);
            }
            batch->forget(1);
            communicator.end_work(turn, leads);  // also wakes those that wait for the end
        }
    } const end{this, leads};
    run_or_fail(communicator_.host(), stream_status, [&] {
        if (leads) {
            lead();
        } else {
            follow();
        }
    });
}

void Batch::forget(uint64_t streams) noexcept {
    if (left_.fetch_sub(streams) == streams) {
        delete this;
    }
}

void Batch::lead() {
    Host& host = communicator_.host();
    host.throw_if_failed();
    communicator_.await_turn(turn_);
    if (const uint64_t others = what_.streams.size() - 1; others != 0) {
        wait_local([&] {
            host.throw_if_failed();
            return arrived_.load(std::memory_order_seq_cst) == others;
        });
    }
    communicator_.run_batch(what_.operations, what_.messages);
}

void Batch::follow() {
    Host& host = communicator_.host();
    arrived_.fetch_add(1, std::memory_order_seq_cst);
    wake_local();
    wait_local([&] {
        host.throw_if_failed();
        return ended_.load(std::memory_order_seq_cst);
    });
    host.throw_if_failed();
}

hal_status Work::operator()(hal_status stream_status) const {
    if (lone_.communicator != nullptr) {
        lone_.communicator->run_lone(lone_, stream_status);
    } else {
        batch_.batch->run(stream_status, batch_.leads);
    }
    return HAL_OK;
}

}  // namespace hal::xccl

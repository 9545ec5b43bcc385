#include "communicator.hpp"

#include "collective.hpp"
#include "messages.hpp"

namespace hal::xccl {

Communicator::Communicator(Port& port, const Place& place, std::unique_ptr<Host> host)
    : port_(port),
      place_(place),
      host_(std::move(host)),
      sent_(static_cast<size_t>(place.size), 0),
      received_(static_cast<size_t>(place.size), 0) {}

void Communicator::require_usable() const {
    host_->throw_if_failed();
}

uint64_t Communicator::take_turn() {
    if (finished_) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "the communicator was finalized; destroy it");
    }
    return issued_++;
}

void Communicator::issue(const std::shared_ptr<Communicator>& self, Issue what) {
    const std::lock_guard lock(self->issue_mutex_);
    self->require_usable();
    const uint64_t turn = self->take_turn();
    const auto sent = self->sent_;
    const auto received = self->received_;
    for (Message& message : what.messages) {
        auto& count = (message.send ? self->sent_ : self->received_)[static_cast<size_t>(message.peer)];
        message.number = ++count;
    }
    const std::vector<hal_stream> streams = what.streams;
    const auto batch = std::make_shared<Batch>(self, turn, std::move(what));
    size_t enqueued = 0;
    try {
        for (const hal_stream stream : streams) {
            self->port_.enqueue(self->device(), stream, Work(batch, enqueued == 0));
            ++enqueued;
        }
    } catch (...) {
        if (enqueued == 0) {  // as if nothing had been issued
            --self->issued_;
            self->sent_ = sent;
            self->received_ = received;
        } else {
            self->host_->fail(HAL_ERROR_REMOTE, self->host_->rank());  // the first stream waits for the others
        }
        throw;
    }
}

void Communicator::await_turn(uint64_t turn) {
    if (turn_.load(std::memory_order_acquire) == turn) {
        return;
    }
    Host::Patience patience(*host_, -1);
    const auto ready = [&] { return turn_.load(std::memory_order_seq_cst) == turn; };
    while (!ready()) {
        patience.pause(false, ready);
    }
}

void Communicator::end_turn(uint64_t turn) noexcept {
    if (turn_.load(std::memory_order_relaxed) == turn) {  // after a failure batches end in any order
        turn_.store(turn + 1, std::memory_order_seq_cst);
    }
    ended_.fetch_add(1, std::memory_order_seq_cst);
    host_->wake();
}

std::vector<std::byte> Communicator::exchange(const std::vector<std::byte>& own) {
    uint64_t turn = 0;
    {
        const std::lock_guard lock(issue_mutex_);
        require_usable();
        turn = take_turn();
    }
    std::vector<std::byte> send = own;
    std::vector<std::byte> all(own.size() * static_cast<size_t>(size()));
    Operation operation;
    operation.call = {.kind = Kind::exchange, .dtype = HAL_U8, .count = own.size()};
    operation.send = send.data();
    operation.recv = all.data();
    struct Turn {
        Communicator& communicator;
        uint64_t turn;
        ~Turn() { communicator.end_turn(turn); }
    } const guard{*this, turn};
    await_turn(turn);
    run_collective(*host_, operation, ++sequence_, step_, [] { return false; });
    return all;
}

void Communicator::drain() noexcept {
    uint64_t issued = 0;
    {
        const std::lock_guard lock(issue_mutex_);
        finished_ = true;
        issued = issued_;
    }
    for (uint64_t ended = ended_.load(); ended < issued; ended = ended_.load()) {
        try {
            Host::Patience patience(*host_, -1);
            patience.pause(false, [&] { return ended_.load(std::memory_order_seq_cst) != ended; });
        } catch (const sdk::Error&) {  // failed: what is left ends by itself
            shared::yield();
        }
    }
}

void Communicator::abort() noexcept {
    host_->fail(HAL_ERROR_ABORTED, host_->rank());
}

void Communicator::finish() {
    drain();
    host_->throw_if_failed();
}

// ---- Batches ----

void Batch::lead(hal_status stream_status) {
    struct End {
        Batch& batch;
        ~End() {
            Host& host = batch.communicator_->host();
            host.publish(batch.ended_, 1);
            batch.communicator_->end_turn(batch.turn_);
        }
    } const end{*this};
    Host& host = communicator_->host();
    if (stream_status != HAL_OK) {
        host.fail(HAL_ERROR_REMOTE, host.rank());  // the others would wait in vain
        return;
    }
    try {
        run();
    } catch (const sdk::Error&) {
        throw;
    } catch (...) {
        host.fail(HAL_ERROR_REMOTE, host.rank());
        throw;
    }
}

void Batch::run() {
    Host& host = communicator_->host();
    host.throw_if_failed();
    communicator_->await_turn(turn_);
    const uint64_t others = what_.streams.size() - 1;
    if (others != 0) {
        Host::Patience patience(host, -1);
        const auto ready = [&] { return arrived_.load(std::memory_order_seq_cst) == others; };
        while (!ready()) {
            patience.pause(false, ready);
        }
    }
    if (what_.messages.empty()) {
        for (const Operation& operation : what_.operations) {
            run_collective(host, operation, ++communicator_->sequence_, communicator_->step_, [] { return false; });
        }
        return;
    }
    Messages messages(host, std::move(what_.messages));
    messages.progress();
    for (const Operation& operation : what_.operations) {
        run_collective(host, operation, ++communicator_->sequence_, communicator_->step_,
                       [&] { return messages.progress(); });
    }
    messages.finish();
}

void Batch::follow(hal_status stream_status) {
    Host& host = communicator_->host();
    if (stream_status != HAL_OK) {
        host.fail(HAL_ERROR_REMOTE, host.rank());
        return;
    }
    arrived_.fetch_add(1, std::memory_order_seq_cst);
    host.wake();
    Host::Patience patience(host, -1);
    const auto ready = [&] { return ended_.load(std::memory_order_seq_cst) != 0; };
    while (!ready()) {
        patience.pause(false, ready);
    }
    host.throw_if_failed();
}

hal_status Work::operator()(hal_status stream_status) {
    if (leads_) {
        batch_->lead(stream_status);
    } else {
        batch_->follow(stream_status);
    }
    return HAL_OK;
}

}  // namespace hal::xccl

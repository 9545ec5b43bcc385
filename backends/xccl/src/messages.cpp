#include "messages.hpp"

#include <algorithm>
#include <cstring>

#include "reduce.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t stream_from_bytes = uint64_t{8} << 20U;

uint64_t bytes_of(const Message& message) noexcept {
    return message.count * element_bytes(message.dtype);
}

}  // namespace

Messages::Messages(const Host& host, const std::vector<Message>& messages) : host_(host), left_(messages.size()) {
    pending_.reserve(messages.size());
    for (const Message& message : messages) {
        pending_.push_back({message});
    }
}

Channel& Messages::channel(const Message& message) const noexcept {
    return message.send ? host_.channel(host_.rank(), message.peer) : host_.channel(message.peer, host_.rank());
}
std::byte* Messages::staging(const Message& message) const noexcept {
    return message.send ? host_.channel_staging(host_.rank(), message.peer)
                        : host_.channel_staging(message.peer, host_.rank());
}

bool Messages::progress() {
    bool moved = false;
    for (Pending& one : pending_) {
        while (one.state != State::done && step(one)) {
            moved = true;
        }
    }
    return moved;
}

void Messages::finish() {
    while (!done()) {
        if (progress()) {
            continue;
        }
        const auto waits =
            std::find_if(pending_.begin(), pending_.end(), [](const Pending& one) { return one.state != State::done; });
        Host::Patience patience(host_, waits->message.peer);
        bool moved = false;
        while (!moved) {
            patience.pause(false, [&] { return moved = moved || progress(); });
            moved = moved || progress();
        }
    }
}

bool Messages::step(Pending& one) {
    return one.message.send ? step_send(one) : step_receive(one);
}

bool Messages::finished(Pending& one) noexcept {
    one.state = State::done;
    --left_;
    return true;
}

// Both sides answer the same.
bool Messages::goes_by_staging(const Channel& channel) const noexcept {
    return channel.from.is_private() && !host_.reads_private();
}

// From where it lies.
void Messages::take(const Channel& from, const Message& message, uint64_t bytes) const {
    if (bytes == 0) {
        return;
    }
    if (!from.from.is_private()) {
        copy(message.data, host_.reach(from.from, bytes), bytes, bytes >= stream_from_bytes);
    } else if (message.peer == host_.rank()) {
        std::memcpy(message.data, reinterpret_cast<const std::byte*>(from.from.offset), bytes);
    } else {
        host_.read_private(message.peer, message.data, from.from.offset, bytes);
    }
}

bool Messages::step_send(Pending& one) {
    Message& message = one.message;
    Channel& to = channel(message);
    if (one.state == State::waiting) {
        if (to.taken.load(std::memory_order_acquire) + 1 != message.number) {
            return false;  // an earlier message is on its way
        }
        to.count = message.count;
        to.dtype = message.dtype;
        to.bytes = bytes_of(message);
        to.from = host_.locate(message.data, to.bytes);
        to.filled.store(0, std::memory_order_relaxed);
        to.drained.store(0, std::memory_order_relaxed);
        host_.publish(to.posted, message.number);
        one.state = State::posted;
        return true;
    }
    if (to.taken.load(std::memory_order_acquire) >= message.number) {
        return finished(one);
    }
    if (!goes_by_staging(to) || one.moved == to.bytes || to.drained.load(std::memory_order_acquire) != one.moved) {
        return false;
    }
    const uint64_t n = std::min(channel_staging_bytes, to.bytes - one.moved);
    std::memcpy(staging(message), message.data + one.moved, n);
    one.moved += n;
    host_.publish(to.filled, one.moved);
    return true;
}

bool Messages::step_receive(Pending& one) {
    Message& message = one.message;
    Channel& from = channel(message);
    if (from.posted.load(std::memory_order_acquire) != message.number ||
        from.taken.load(std::memory_order_relaxed) + 1 != message.number) {
        return false;
    }
    if (from.count != message.count || from.dtype != message.dtype) {
        host_.fail(HAL_ERROR_INVALID_ARGUMENT, message.peer);
        host_.throw_if_failed();
    }
    const uint64_t bytes = bytes_of(message);
    if (!goes_by_staging(from)) {
        take(from, message, bytes);
        host_.publish(from.taken, message.number);
        return finished(one);
    }
    const uint64_t filled = from.filled.load(std::memory_order_acquire);
    if (filled <= one.moved || filled > bytes || filled - one.moved > channel_staging_bytes) {
        return false;
    }
    std::memcpy(message.data + one.moved, staging(message), filled - one.moved);
    one.moved = filled;
    host_.publish(from.drained, filled);
    if (filled == bytes) {
        host_.publish(from.taken, message.number);
        return finished(one);
    }
    return true;
}

}  // namespace hal::xccl

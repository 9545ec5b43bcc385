// Messages between two ranks of a host: the sender says where its data lie, the receiver takes them. All messages of a
// group go on at once, so that no order of them is a deadlock.
#pragma once

#include <vector>

#include "host.hpp"
#include "operation.hpp"

namespace hal::xccl {

class Messages {
  public:
    Messages(const Host& host, const std::vector<Message>& messages);

    // Does what can be done now; true if that was anything. Throws INVALID_ARGUMENT, on both ranks, if the two sides do
    // not agree on count and type.
    bool progress();
    [[nodiscard]] bool done() const noexcept { return left_ == 0; }
    // Throws what Host::Patience throws.
    void finish();

  private:
    enum class State : uint8_t { waiting, posted, done };
    struct Pending {
        Message message;
        State state = State::waiting;
        uint64_t moved = 0;  // bytes, through staging memory
    };
    [[nodiscard]] bool goes_by_staging(const Channel& channel) const noexcept;
    void take(const Channel& from, const Message& message, uint64_t bytes) const;
    bool step(Pending& one);
    bool step_send(Pending& one);
    bool step_receive(Pending& one);
    [[nodiscard]] Channel& channel(const Message& message) const noexcept;
    [[nodiscard]] std::byte* staging(const Message& message) const noexcept;
    bool finished(Pending& one) noexcept;

    const Host& host_;
    std::vector<Pending> pending_;
    size_t left_;
};

}  // namespace hal::xccl

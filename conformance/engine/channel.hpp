// Messages between the parent and a worker: one JSON object each, framed by the kernel (SOCK_SEQPACKET), so that a
// message is whole or not there.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace hal::conformance {

inline constexpr int worker_channel_fd = 3;
inline constexpr int worker_trail_fd = 4;

class Channel {
  public:
    explicit Channel(int fd) : fd_(fd) {}  // owned
    ~Channel();
    Channel(Channel&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    Channel& operator=(Channel&&) = delete;

    [[nodiscard]] int fd() const { return fd_; }
    // False if the other side is gone.
    bool send(const nlohmann::json& message) const;
    // The next message; nothing if the other side is gone. What is no JSON throws.
    [[nodiscard]] std::optional<nlohmann::json> receive() const;

  private:
    int fd_;
};

struct ChannelPair {
    int parent;
    int worker;
};
// Both close on exec.
[[nodiscard]] ChannelPair make_channel();

}  // namespace hal::conformance

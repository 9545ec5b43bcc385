// A worker as a process: in a group of its own, with a channel to its parent, its output caught and its position in
// shared memory. Whatever happens to it, everything that it started is gone afterwards, and counted.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>

#include "attempt.hpp"
#include "captured.hpp"
#include "channel.hpp"
#include "harness/trail.hpp"

namespace hal::conformance {

class Process {
  public:
    static constexpr auto leave_limit = std::chrono::seconds(5);

    Process();
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t id() const { return id_; }
    [[nodiscard]] bool alive() const { return alive_; }
    [[nodiscard]] int end_fd() const { return pidfd_; }  // ready to read once it has left
    [[nodiscard]] const Channel& channel() const { return *channel_; }
    [[nodiscard]] Captured& out() const { return *out_; }
    [[nodiscard]] Captured& err() const { return *err_; }
    void take_output() const;
    // The entries that are being called in it.
    [[nodiscard]] std::string position() const { return trail_->describe(); }
    // Processes that it left behind.
    [[nodiscard]] uint64_t children_left() const { return children_left_; }

    // True once it has left, false if it has not within leave_limit.
    [[nodiscard]] bool leaves() const;
    // Closes the channel, at which a worker leaves.
    void dismiss() { channel_.reset(); }
    void kill_group() const;
    // Waits for one that has left or been killed, and for its group.
    Ending gone();

  private:
    [[nodiscard]] int spawn(const std::array<int, 4>& ends);
    void reap_group();

    pid_t id_ = -1;
    int pidfd_ = -1;
    bool alive_ = false;
    std::optional<Channel> channel_;
    std::unique_ptr<Captured> out_;
    std::unique_ptr<Captured> err_;
    Trail* trail_ = nullptr;
    uint64_t children_left_ = 0;
    std::string mark_;
};

}  // namespace hal::conformance

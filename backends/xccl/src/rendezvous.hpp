// Where the ranks of a new communicator meet: the process that made the id listens, every rank introduces itself with
// the id's secret, and once all have come each is told who the others are. One listener a back end, for all its ids.
//
// A stranger who connects without a secret is refused; whoever says nothing is dropped after a while. All messages have
// a fixed size, so no length comes from the wire.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "hal/types.h"
#include "introduction.hpp"
#include "socket.hpp"
#include "unique_id.hpp"

namespace hal::xccl {

inline constexpr int32_t most_ranks = 65536;

class Rendezvous {
  public:
    // `interface` is an IP address of this machine.
    explicit Rendezvous(std::string interface);
    ~Rendezvous();
    Rendezvous(const Rendezvous&) = delete;
    Rendezvous& operator=(const Rendezvous&) = delete;

    // Starts the listener at its first call. Throws sdk::Error OUT_OF_RESOURCES, INVALID_ARGUMENT for the interface.
    [[nodiscard]] UniqueId make_id();

  private:
    struct Guest;
    struct Session {
        int32_t size = 0;                 // as the first rank said
        std::map<int32_t, size_t> ranks;  // -> index in guests_
    };

    void start();
    void serve() noexcept;
    void welcome();
    void turn_away();
    void listen_to(size_t guest);
    void introduce(size_t guest);
    void refuse(size_t guest, hal_status status, int32_t rank);
    void finish(std::map<Secret, Session>::iterator session);
    void end_session(std::map<Secret, Session>::iterator session);
    void lose(size_t guest);
    void drop(size_t guest) noexcept;
    [[nodiscard]] int patience_ms() const noexcept;

    const std::string interface_;
    Address address_;
    File listener_, wake_;
    File spare_;  // given up for a moment to tell a guest that there is no descriptor for it
    std::thread thread_;
    [[nodiscard]] Secret* find_id(const Secret& secret) noexcept;

    std::mutex mutex_;  // guards what follows, and the start
    // Ids that made no communicator yet, the youngest of them: a process that makes ids and never uses them does not
    // grow.
    std::vector<Secret> ids_;
    uint64_t made_ = 0;
    std::map<Secret, Session> sessions_;  // of those whose ranks are coming
    // The thread's.
    std::vector<std::unique_ptr<Guest>> guests_;
    std::vector<pollfd> polled_;
};

// Blocks until all ranks of the id have come. Throws sdk::Error INVALID_ARGUMENT (bytes that are no id, another number
// of ranks, a rank twice, an id unknown or used), REMOTE (a rank or the maker of the id is gone), TIMEOUT.
[[nodiscard]] std::vector<Introduction> meet(const UniqueId& id, int32_t rank, int32_t size, const Introduction& own,
                                             Deadline deadline);

}  // namespace hal::xccl

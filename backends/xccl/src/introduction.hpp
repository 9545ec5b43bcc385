// What the ranks of a new communicator tell each other of themselves when they meet.
#pragma once

#include <array>
#include <optional>

#include "socket.hpp"
#include "unique_id.hpp"

namespace hal::xccl {

struct Introduction {
    std::array<char, 64> host{};    // equal for ranks that can share memory and local sockets
    std::array<char, 64> socket{};  // local, of a rank that may lead its host
    Address network;                // where ranks of other hosts reach it; port 0: nowhere
};

// What a rank says first to the one that it joins.
struct Greeting {
    uint32_t magic = id_magic;
    int32_t rank = 0;
    Secret secret{};
    uint64_t arena_bytes = 0;  // of the file that follows, on one host
};
// nullopt from a stranger: one without the secret, with a rank that there is not, that leaves, or that says nothing for
// a while; a rank greets at once. Throws sdk::Error as sockets do.
[[nodiscard]] std::optional<Greeting> receive_greeting(const File& socket, const Secret& secret, int32_t ranks,
                                                       Deadline deadline, const char* what);

// A rank as the others find it: the listeners that its introduction names.
struct Presence {
    // `network`: an address of this machine that other hosts reach, or loopback. Throws sdk::Error as sockets do.
    explicit Presence(const Address& network);

    Introduction introduction;
    File local_listener;
    File network_listener;  // none on loopback
};

}  // namespace hal::xccl

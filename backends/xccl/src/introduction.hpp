// What the ranks of a new communicator tell each other of themselves when they meet.
#pragma once

#include <array>
#include <string>

#include "socket.hpp"

namespace hal::xccl {

struct Introduction {
    std::array<char, 64> host{};    // equal for ranks that can share memory and local sockets
    std::array<char, 64> socket{};  // local, of a rank that may lead its host
    Address network;                // where ranks of other hosts reach it; port 0: nowhere
};

// A rank as the others find it: the listeners that its introduction names.
struct Presence {
    // `network`: an address of this machine that other hosts reach, or loopback. Throws sdk::Error as sockets do.
    explicit Presence(const Address& network);

    Introduction introduction;
    File local_listener;
    File network_listener;  // none on loopback
};

}  // namespace hal::xccl

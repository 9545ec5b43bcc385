// Stream sockets with deadlines: whole messages or an error, and files that travel with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "file.hpp"

namespace hal::xccl {

using shared::Deadline;
using shared::File;

// All of these throw sdk::Error with `what` in the text: TIMEOUT, REMOTE if the other side is gone, OUT_OF_RESOURCES.
// Sockets are non-blocking.

struct Address {
    uint16_t port = 0;  // network byte order
    uint8_t bytes[16]{};
};
[[nodiscard]] bool is_loopback(const Address& address) noexcept;
[[nodiscard]] std::string text(const Address& address);
// The address of this machine that packets to that one leave by; loopback if there is no way. Nothing is sent.
[[nodiscard]] Address own_address_towards(const Address& other);
// A listener at the address with a port that the system chooses.
[[nodiscard]] File listen_tcp(const Address& interface, uint16_t* out_port);
[[nodiscard]] File connect_tcp(const Address& address, Deadline deadline, const char* what);
// In the abstract name space: nothing lies in a file system, and it ends with its last descriptor.
[[nodiscard]] File listen_local(const std::string& name);
[[nodiscard]] File connect_local(const std::string& name, Deadline deadline, const char* what);
[[nodiscard]] File accept_one(const File& listener, Deadline deadline, const char* what);

void send_all(const File& socket, std::span<const std::byte> bytes, Deadline deadline, const char* what);
void receive_all(const File& socket, std::span<std::byte> bytes, Deadline deadline, const char* what);
// At most 64 files; the kernel duplicates them.
void send_files(const File& socket, std::span<const int> files, Deadline deadline, const char* what);
[[nodiscard]] std::vector<File> receive_files(const File& socket, size_t count, Deadline deadline, const char* what);

template <class T>
void send_value(const File& socket, const T& value, Deadline deadline, const char* what) {
    send_all(socket, std::as_bytes(std::span(&value, 1)), deadline, what);
}
template <class T>
[[nodiscard]] T receive_value(const File& socket, Deadline deadline, const char* what) {
    T value;
    receive_all(socket, std::as_writable_bytes(std::span(&value, 1)), deadline, what);
    return value;
}

// Of errno.
[[noreturn]] void throw_system(const char* what);

}  // namespace hal::xccl

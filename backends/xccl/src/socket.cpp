#include "socket.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hal/sdk.hpp"

namespace hal::xccl {
namespace {

constexpr size_t files_at_once = 64;

sockaddr_in6 ip_address(const Address& address) noexcept {
    sockaddr_in6 ip{};
    ip.sin6_family = AF_INET6;
    ip.sin6_port = address.port;
    std::memcpy(&ip.sin6_addr, address.bytes, sizeof address.bytes);
    return ip;
}

bool is_ipv4(const Address& address) noexcept {
    const sockaddr_in6 ip = ip_address(address);
    return IN6_IS_ADDR_V4MAPPED(&ip.sin6_addr) != 0;
}

struct LocalAddress {
    sockaddr_un address{};
    socklen_t bytes = 0;
};
LocalAddress local_address(const std::string& name) {
    LocalAddress local;
    local.address.sun_family = AF_UNIX;
    const size_t length = std::min(name.size(), sizeof local.address.sun_path - 1);
    std::memcpy(local.address.sun_path + 1, name.data(), length);  // the leading zero: no file
    local.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
    return local;
}

File make_socket(int family) {
    File socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
        throw_system("a socket");
    }
    return socket;
}

template <class T>
const sockaddr* generic(const T& address) noexcept {
    return reinterpret_cast<const sockaddr*>(&address);
}

// Waits until the socket is ready; throws TIMEOUT.
void wait_ready(const File& socket, short events, Deadline deadline, const char* what) {
    for (;;) {
        const uint64_t now = shared::now_ns();
        int limit_ms = -1;
        if (!deadline.is_never()) {
            const uint64_t left = deadline.at_ns() > now ? deadline.at_ns() - now : 0;
            limit_ms = static_cast<int>(std::min<uint64_t>(left / 1'000'000 + 1, 1'000'000));
        }
        pollfd one{socket.get(), events, 0};
        const int ready = poll(&one, 1, limit_ms);
        if (ready > 0) {
            return;
        }
        if (ready == 0 && deadline.passed()) {
            throw sdk::Error(HAL_ERROR_TIMEOUT, std::string(what) + ": no answer within the time limit");
        }
        if (ready < 0 && errno != EINTR) {
            throw_system(what);
        }
    }
}

// Calls step() until it has moved something; a wait in between.
template <class Step>
size_t move_some(const File& socket, short events, Deadline deadline, const char* what, Step&& step) {
    for (;;) {
        const ssize_t moved = step();
        if (moved > 0) {
            return static_cast<size_t>(moved);
        }
        if (moved == 0) {
            throw sdk::Error(HAL_ERROR_REMOTE, std::string(what) + ": the other side has closed the connection");
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_ready(socket, events, deadline, what);
        } else if (errno != EINTR) {
            throw_system(what);
        }
    }
}

void finish_connect(const File& socket, const sockaddr* address, socklen_t bytes, Deadline deadline, const char* what) {
    if (connect(socket.get(), address, bytes) == 0) {
        return;
    }
    if (errno != EINPROGRESS && errno != EINTR && errno != EAGAIN) {
        throw_system(what);
    }
    wait_ready(socket, POLLOUT, deadline, what);
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0) {
        errno = error;
        throw_system(what);
    }
}

void hurry(const File& socket) noexcept {
    const int on = 1;
    static_cast<void>(setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

}  // namespace

void throw_system(const char* what) {
    const int error = errno;
    const bool gone = error == ECONNREFUSED || error == ECONNRESET || error == EPIPE || error == ENOTCONN ||
                      error == EHOSTUNREACH || error == ENETUNREACH;
    const hal_status status = gone                                ? HAL_ERROR_REMOTE
                              : error == EACCES || error == EPERM ? HAL_ERROR_PERMISSION
                              : error == ETIMEDOUT                ? HAL_ERROR_TIMEOUT
                                                                  : HAL_ERROR_OUT_OF_RESOURCES;
    throw sdk::Error(status, std::string(what) + ": " + std::strerror(error), error);
}

bool is_loopback(const Address& address) noexcept {
    const sockaddr_in6 ip = ip_address(address);
    return IN6_IS_ADDR_LOOPBACK(&ip.sin6_addr) != 0 || (is_ipv4(address) && address.bytes[12] == 127);
}

std::string text(const Address& address) {
    char buffer[INET6_ADDRSTRLEN] = "?";
    if (is_ipv4(address)) {
        inet_ntop(AF_INET, address.bytes + 12, buffer, sizeof buffer);
    } else {
        inet_ntop(AF_INET6, address.bytes, buffer, sizeof buffer);
    }
    return buffer;
}

Address own_address_towards(const Address& other) {
    const File socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in6 ip = ip_address(other);
    socklen_t size = sizeof ip;
    Address own;
    own.bytes[15] = 1;  // loopback
    if (socket && connect(socket.get(), generic(ip), size) == 0 &&
        getsockname(socket.get(), reinterpret_cast<sockaddr*>(&ip), &size) == 0) {
        std::memcpy(own.bytes, &ip.sin6_addr, sizeof own.bytes);
    }
    return own;
}

File listen_tcp(const Address& interface, uint16_t* out_port) {
    File socket = make_socket(AF_INET6);
    const int off = 0;
    static_cast<void>(setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off));
    sockaddr_in6 ip = ip_address(interface);
    socklen_t size = sizeof ip;
    if (bind(socket.get(), generic(ip), size) != 0 || listen(socket.get(), SOMAXCONN) != 0 ||
        getsockname(socket.get(), reinterpret_cast<sockaddr*>(&ip), &size) != 0) {
        throw_system("the rendezvous of a communication id");
    }
    *out_port = ip.sin6_port;
    return socket;
}

File connect_tcp(const Address& address, Deadline deadline, const char* what) {
    File socket = make_socket(AF_INET6);
    const sockaddr_in6 ip = ip_address(address);
    finish_connect(socket, generic(ip), sizeof ip, deadline, what);
    hurry(socket);
    return socket;
}

File listen_local(const std::string& name) {
    File socket = make_socket(AF_UNIX);
    const LocalAddress local = local_address(name);
    if (bind(socket.get(), generic(local.address), local.bytes) != 0 || listen(socket.get(), SOMAXCONN) != 0) {
        throw_system("the socket of a communicator");
    }
    return socket;
}

File connect_local(const std::string& name, Deadline deadline, const char* what) {
    const LocalAddress local = local_address(name);
    for (;;) {
        File socket = make_socket(AF_UNIX);
        if (connect(socket.get(), generic(local.address), local.bytes) == 0) {
            return socket;
        }
        if (errno != EAGAIN) {  // EAGAIN: as many wait already as the listener lets wait
            throw_system(what);
        }
        if (deadline.passed()) {
            throw sdk::Error(HAL_ERROR_TIMEOUT, std::string(what) + ": no answer within the time limit");
        }
        poll(nullptr, 0, 1);
    }
}

File accept_one(const File& listener, Deadline deadline, const char* what) {
    for (;;) {
        File socket(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket) {
            hurry(socket);
            return socket;
        }
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            wait_ready(listener, POLLIN, deadline, what);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            throw_system(what);
        }
    }
}

void send_all(const File& socket, std::span<const std::byte> bytes, Deadline deadline, const char* what) {
    while (!bytes.empty()) {
        bytes = bytes.subspan(move_some(socket, POLLOUT, deadline, what,
                                        [&] { return send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); }));
    }
}

void receive_all(const File& socket, std::span<std::byte> bytes, Deadline deadline, const char* what) {
    while (!bytes.empty()) {
        bytes = bytes.subspan(move_some(socket, POLLIN, deadline, what,
                                        [&] { return recv(socket.get(), bytes.data(), bytes.size(), 0); }));
    }
}

namespace {

// One byte with the files as ancillary data.
struct FilesMessage {
    alignas(cmsghdr) char control[CMSG_SPACE(files_at_once * sizeof(int))]{};
    char byte = 'f';
    iovec data{&byte, 1};
    msghdr header{};
    explicit FilesMessage(size_t count) {
        header.msg_iov = &data;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    FilesMessage(const FilesMessage&) = delete;
    FilesMessage& operator=(const FilesMessage&) = delete;
};

std::vector<File> files_of(msghdr& header) {
    std::vector<File> files;
    for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
        if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_RIGHTS) {
            const size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t i = 0; i < count; ++i) {
                int file = -1;
                std::memcpy(&file, CMSG_DATA(one) + i * sizeof file, sizeof file);
                files.emplace_back(file);
            }
        }
    }
    return files;
}

}  // namespace

void send_files(const File& socket, std::span<const int> files, Deadline deadline, const char* what) {
    while (!files.empty()) {
        const auto some = files.first(std::min(files.size(), files_at_once));
        FilesMessage message(some.size());
        cmsghdr* const one = CMSG_FIRSTHDR(&message.header);
        one->cmsg_level = SOL_SOCKET;
        one->cmsg_type = SCM_RIGHTS;
        one->cmsg_len = CMSG_LEN(some.size_bytes());
        std::memcpy(CMSG_DATA(one), some.data(), some.size_bytes());
        move_some(socket, POLLOUT, deadline, what,
                  [&] { return sendmsg(socket.get(), &message.header, MSG_NOSIGNAL); });
        files = files.subspan(some.size());
    }
}

std::vector<File> receive_files(const File& socket, size_t count, Deadline deadline, const char* what) {
    std::vector<File> files;
    while (files.size() < count) {
        const size_t some = std::min(count - files.size(), files_at_once);
        FilesMessage message(some);
        move_some(socket, POLLIN, deadline, what, [&] {
            message.header.msg_controllen = CMSG_SPACE(some * sizeof(int));
            return recvmsg(socket.get(), &message.header, MSG_CMSG_CLOEXEC);
        });
        std::vector<File> got = files_of(message.header);
        if (got.size() != some || (message.header.msg_flags & MSG_CTRUNC) != 0) {
            throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                             std::string(what) + ": " + std::to_string(got.size()) + " of " + std::to_string(some) +
                                 " files arrived; raise the limit of open files (ulimit -n)");
        }
        std::move(got.begin(), got.end(), std::back_inserter(files));
    }
    return files;
}

}  // namespace hal::xccl

#include "channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

namespace hal::conformance {

using nlohmann::json;

Channel::~Channel() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

bool Channel::send(const json& message) const {
    const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace);
    ssize_t sent = 0;
    do {
        sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(text.size());
}

std::optional<json> Channel::receive() const {
    ssize_t size = 0;
    int resets = 0;
    do {
        size = recv(fd_, nullptr, 0, MSG_PEEK | MSG_TRUNC);
        // A peer that left without reading everything is told first, once, and only then what it has said.
    } while (size < 0 && (errno == EINTR || (errno == ECONNRESET && resets++ == 0)));
    if (size <= 0) {
        return {};
    }
    std::string text(static_cast<size_t>(size), 0);
    size = recv(fd_, text.data(), text.size(), 0);
    if (size != static_cast<ssize_t>(text.size())) {
        return {};
    }
    return json::parse(text);
}

ChannelPair make_channel() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        throw std::system_error(errno, std::generic_category(), "no socket for a worker");
    }
    return {ends[0], ends[1]};
}

}  // namespace hal::conformance

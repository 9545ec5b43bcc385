// How launched ranks find each other.
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "events_json.hpp"
#include "launched.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr auto meeting = std::chrono::seconds(60);
constexpr uint32_t longest_message = 64U << 20U;

bool send_all(int fd, const char* bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t sent = ::send(fd, bytes + done, size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        done += sent > 0 ? static_cast<size_t>(sent) : 0;
    }
    return true;
}

bool receive_all(int fd, char* bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        const ssize_t got = recv(fd, bytes + done, size - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        done += got > 0 ? static_cast<size_t>(got) : 0;
    }
    return true;
}

// The addresses of a name, freed at the end.
struct Addresses {
    Addresses(const std::string& name, const std::string& port) {
        addrinfo wanted{};
        wanted.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(name.c_str(), port.c_str(), &wanted, &list) != 0) {
            throw HarnessError("--ranks-from-env: " + name + ":" + port + " is no address");
        }
    }
    ~Addresses() { freeaddrinfo(list); }
    Addresses(const Addresses&) = delete;
    Addresses& operator=(const Addresses&) = delete;
    addrinfo* list = nullptr;
};

void give_up_receiving_after(int fd, std::chrono::seconds limit) {  // 0: never
    const timeval patience{limit.count(), 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

int socket_of(const addrinfo& address) {
    return socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol);
}

}  // namespace

Wire::~Wire() {
    close(fd_);
}

void Wire::send(const json& message) {
    const std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace);
    const uint32_t size = htonl(static_cast<uint32_t>(text.size()));
    std::string whole(sizeof size, '\0');  // in one piece, that the other side does not wait for the rest
    std::memcpy(whole.data(), &size, sizeof size);
    whole += text;
    const std::lock_guard lock(mutex_);
    (void)send_all(fd_, whole.data(), whole.size());
}

std::optional<json> Wire::receive() {
    uint32_t size = 0;
    std::array<char, sizeof size> head{};
    if (!receive_all(fd_, head.data(), head.size())) {
        return {};
    }
    std::memcpy(&size, head.data(), sizeof size);
    size = ntohl(size);
    std::string text(size <= longest_message ? size : 0, '\0');
    if (text.empty() || !receive_all(fd_, text.data(), text.size())) {
        return {};
    }
    json message = json::parse(text, nullptr, false);
    return message.is_discarded() ? std::nullopt : std::optional(std::move(message));
}

namespace {

// 0 for a stranger, whatever it says.
size_t rank_in(const json& hello, const std::string& token) {
    const auto told = hello.find("token");
    const auto rank = hello.find("rank");
    const bool known = told != hello.end() && *told == token && rank != hello.end() && rank->is_number_unsigned();
    return known ? rank->get<size_t>() : 0;
}

void hurry(int fd) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

}  // namespace

// Whoever does not know the token, or is no rank that is missing, is told so and sent away.
void Launched::accept_all() {
    wires_.resize(ranks());
    const Addresses addresses(launch_.address, launch_.port);
    const int listener = socket_of(*addresses.list);
    const int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, addresses.list->ai_addr, addresses.list->ai_addrlen) != 0 || listen(listener, 64) != 0) {
        close(listener);
        throw HarnessError("--ranks-from-env: rank 0 cannot listen at " + launch_.address + ":" + launch_.port + ": " +
                           std::strerror(errno));
    }
    const auto end = Clock::now() + meeting;
    for (size_t missing = ranks() - 1; missing > 0;) {
        pollfd wait{listener, POLLIN, 0};
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
        if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) <= 0) {
            close(listener);
            throw HarnessError("--ranks-from-env: " + std::to_string(missing) + " ranks have not come");
        }
        const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        give_up_receiving_after(fd, std::chrono::seconds(5));
        auto wire = std::make_unique<Wire>(fd);
        const auto hello = wire->receive();
        const size_t rank = hello ? rank_in(*hello, launch_.token) : 0;
        if (rank == 0) {
            wire->send({{"refused", "it has another token (HAL_CONFORMANCE_TOKEN)"}});
        } else if (rank >= ranks() || wires_[rank]) {
            wire->send({{"refused", "no such rank is missing"}});
        } else {
            wire->send({{"welcome", true}});
            give_up_receiving_after(fd, std::chrono::seconds(0));
            hurry(fd);
            wires_[rank] = std::move(wire);
            --missing;
        }
    }
    close(listener);
}

void Launched::connect_to_first() {
    const Addresses addresses(launch_.address, launch_.port);
    const auto end = Clock::now() + meeting;
    int fd = socket_of(*addresses.list);
    while (connect(fd, addresses.list->ai_addr, addresses.list->ai_addrlen) != 0) {
        close(fd);
        if (Clock::now() > end) {
            throw HarnessError("--ranks-from-env: rank 0 does not answer at " + launch_.address + ":" + launch_.port);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));  // rank 0 may be started later
        fd = socket_of(*addresses.list);
    }
    hurry(fd);
    wires_.push_back(std::make_unique<Wire>(fd));
    wires_.front()->send({{"token", launch_.token}, {"rank", launch_.rank}});
    give_up_receiving_after(fd, meeting);
    const auto answer = wires_.front()->receive();
    if (!answer || !answer->is_object() || !answer->contains("welcome")) {
        throw HarnessError("--ranks-from-env: rank 0 sent rank " + std::to_string(launch_.rank) + " away: " +
                           (answer && answer->is_object() ? answer->value("refused", "") : "it said nothing"));
    }
    give_up_receiving_after(fd, std::chrono::seconds(0));
}

}  // namespace hal::conformance

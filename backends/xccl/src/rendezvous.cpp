#include "rendezvous.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "hal/sdk.hpp"
#include "signals_blocked.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t silence_ns = 10'000'000'000;  // a guest must have introduced itself by then
constexpr uint64_t answer_ns = 5'000'000'000;    // and must take its answer
constexpr size_t most_guests = 70'000;           // more than a communicator can have
constexpr size_t kept_ids = 4096;

struct Hello {
    uint32_t magic = id_magic;
    uint32_t version = id_version;
    Secret secret{};
    int32_t rank = 0;
    int32_t size = 0;
    Introduction introduction;
};

struct Answer {
    uint32_t magic = id_magic;
    hal_status status = HAL_OK;
    int32_t rank = 0;  // whom the status is about
    int32_t size = 0;  // introductions that follow
};

// Any descriptor; -1 if there is none.
int open_spare() noexcept {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

Address parse_address(const std::string& text) {
    Address address;
    in_addr ipv4{};
    in6_addr ipv6{};
    if (inet_pton(AF_INET, text.c_str(), &ipv4) == 1) {
        address.bytes[10] = address.bytes[11] = 0xff;
        std::memcpy(address.bytes + 12, &ipv4, sizeof ipv4);
    } else if (inet_pton(AF_INET6, text.c_str(), &ipv6) == 1) {
        std::memcpy(address.bytes, &ipv6, sizeof ipv6);
    } else {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "option xccl_interface is \"" + text +
                                                         "\", expected an IP address of this machine, such as "
                                                         "127.0.0.1");
    }
    return address;
}

}  // namespace

struct Rendezvous::Guest {
    File socket;
    uint64_t since_ns = 0;
    size_t received = 0;  // of hello
    Hello hello;
    bool introduced = false;
};

Rendezvous::Rendezvous(std::string interface) : interface_(std::move(interface)) {}

Rendezvous::~Rendezvous() {
    if (thread_.joinable()) {
        const uint64_t one = 1;
        static_cast<void>(write(wake_.get(), &one, sizeof one));
        thread_.join();
    }
}

UniqueId Rendezvous::make_id() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) {
        start();
    }
    UniqueId id;
    id.magic = id_magic;
    id.version = id_version;
    id.port = address_.port;
    std::memcpy(id.address.data(), address_.bytes, sizeof address_.bytes);
    id.secret = random_secret();
    const Secret extra = random_secret();  // so that no byte of an id is predictable
    std::memcpy(id.reserved.data(), extra.data(), extra.size());
    ids_[made_++ % kept_ids] = id.secret;
    return id;
}

void Rendezvous::start() {
    Address address = parse_address(interface_);
    listener_ = listen_tcp(address, &address.port);
    wake_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    spare_ = File(open_spare());
    if (!wake_) {
        throw_system("the rendezvous of a communication id");
    }
    address_ = address;
    ids_.resize(kept_ids);
    polled_.reserve(2);
    const shared::SignalsBlocked blocked;
    try {
        thread_ = std::thread([this] { serve(); });
    } catch (const std::system_error& error) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, std::string("no thread for the rendezvous: ") + error.what(),
                         error.code().value());
    }
}

int Rendezvous::patience_ms() const noexcept {
    const bool silent = std::any_of(guests_.begin(), guests_.end(), [](const auto& one) { return !one->introduced; });
    return silent ? 1000 : -1;
}

void Rendezvous::serve() noexcept {
    pthread_setname_np(pthread_self(), "hal-xccl");
    for (;;) {
        polled_.clear();  // there is room for all: see welcome()
        polled_.push_back({wake_.get(), POLLIN, 0});
        polled_.push_back({listener_.get(), POLLIN, 0});
        for (const auto& guest : guests_) {
            polled_.push_back({guest->socket.get(), POLLIN, 0});
        }
        static_cast<void>(poll(polled_.data(), polled_.size(), patience_ms()));
        if (polled_[0].revents != 0) {
            return;
        }
        try {
            const std::lock_guard lock(mutex_);
            for (size_t i = guests_.size(); i-- > 0;) {  // from the end: whoever is dropped makes room there
                if (i < guests_.size() && polled_[i + 2].revents != 0) {
                    listen_to(i);
                } else if (i < guests_.size() && !guests_[i]->introduced &&
                           shared::now_ns() - guests_[i]->since_ns > silence_ns) {
                    drop(i);
                }
            }
            if (polled_[1].revents != 0) {
                welcome();
            }
        } catch (...) {  // no memory for one more guest: it finds the connection closed, or runs into its time limit
        }
    }
}

void Rendezvous::welcome() {
    try {
        auto guest = std::make_unique<Guest>();
        guest->socket = accept_one(listener_, Deadline::after(0), "a rank");
        guest->since_ns = shared::now_ns();
        if (guests_.size() < most_guests) {
            polled_.reserve(guests_.size() + 3);  // here, where the lack of memory ends one guest and not the thread
            guests_.push_back(std::move(guest));
        }
    } catch (const sdk::Error& error) {
        if (error.vendor_code() == EMFILE || error.vendor_code() == ENFILE) {
            turn_away();
        }  // else it is gone again
    }
}

// Left alone it would wait for the time limit, and this thread would be woken for it again and again.
void Rendezvous::turn_away() {
    spare_ = File();
    try {
        const File socket = accept_one(listener_, Deadline::after(0), "a rank");
        send_value(socket, Answer{.status = HAL_ERROR_OUT_OF_RESOURCES}, Deadline::after(0), "an answer");
    } catch (const sdk::Error&) {  // somebody else took the descriptor: at the next look
    }
    spare_ = File(open_spare());
}

void Rendezvous::listen_to(size_t index) {
    Guest& guest = *guests_[index];
    auto* const hello = reinterpret_cast<std::byte*>(&guest.hello);
    std::byte more{};
    void* const to = guest.introduced ? &more : hello + guest.received;
    const size_t room = guest.introduced ? 1 : sizeof guest.hello - guest.received;
    const ssize_t got = recv(guest.socket.get(), to, room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= 0 || guest.introduced) {  // whoever has introduced itself has nothing more to say
        lose(index);
        return;
    }
    guest.received += static_cast<size_t>(got);
    if (guest.received == sizeof guest.hello) {
        introduce(index);
    }
}

void Rendezvous::introduce(size_t index) {
    const Hello& hello = guests_[index]->hello;
    if (hello.magic != id_magic || hello.version != id_version || find_id(hello.secret) == nullptr) {
        refuse(index, HAL_ERROR_NOT_FOUND, hello.rank);
        return;
    }
    const auto known = sessions_.find(hello.secret);
    if (hello.size < 1 || hello.size > most_ranks || hello.rank < 0 || hello.rank >= hello.size ||
        (known != sessions_.end() && known->second.size != hello.size)) {
        refuse(index, HAL_ERROR_INVALID_ARGUMENT, hello.rank);
        return;
    }
    const auto session = sessions_.try_emplace(hello.secret).first;
    Session& meeting = session->second;
    if (!meeting.ranks.emplace(hello.rank, index).second) {
        refuse(index, HAL_ERROR_ALREADY_EXISTS, hello.rank);
        return;
    }
    meeting.size = hello.size;
    guests_[index]->introduced = true;
    if (meeting.ranks.size() == static_cast<size_t>(meeting.size)) {
        finish(session);
    }
}

void Rendezvous::refuse(size_t index, hal_status status, int32_t rank) {
    try {
        send_value(guests_[index]->socket, Answer{.status = status, .rank = rank}, Deadline::after(0), "an answer");
    } catch (const sdk::Error&) {  // it does not listen
    }
    drop(index);
}

Secret* Rendezvous::find_id(const Secret& secret) noexcept {
    Secret* found = nullptr;
    for (Secret& one : ids_) {  // all of them, so that the time tells nothing
        found = same_secret(one, secret) ? &one : found;
    }
    return same_secret(secret, Secret{}) ? nullptr : found;
}

// Everybody has come.
void Rendezvous::finish(std::map<Secret, Session>::iterator session) {
    std::vector<Introduction> all;
    std::vector<size_t> indices;
    for (const auto& [rank, index] : session->second.ranks) {
        all.push_back(guests_[index]->hello.introduction);
        indices.push_back(index);
    }
    for (const size_t index : indices) {
        try {
            const Answer answer{.size = session->second.size};
            send_value(guests_[index]->socket, answer, Deadline::after(answer_ns), "an answer");
            send_all(guests_[index]->socket, std::as_bytes(std::span(all)), Deadline::after(answer_ns), "an answer");
        } catch (const sdk::Error&) {  // it will be missed where the others wait for it
        }
    }
    end_session(session);
    std::sort(indices.rbegin(), indices.rend());
    for (const size_t index : indices) {
        drop(index);
    }
}

// Its id is used up.
void Rendezvous::end_session(std::map<Secret, Session>::iterator session) {
    if (Secret* const id = find_id(session->first); id != nullptr) {
        *id = {};
    }
    sessions_.erase(session);
}

// A guest has left. If it was expected, the others are told now instead of waiting for the time limit.
void Rendezvous::lose(size_t index) {
    const Hello hello = guests_[index]->hello;
    const auto session = guests_[index]->introduced ? sessions_.find(hello.secret) : sessions_.end();
    if (session == sessions_.end()) {
        drop(index);
        return;
    }
    std::vector<size_t> indices;
    for (const auto& [rank, guest] : session->second.ranks) {
        indices.push_back(guest);
    }
    end_session(session);
    std::sort(indices.rbegin(), indices.rend());
    for (const size_t other : indices) {
        refuse(other, HAL_ERROR_REMOTE, hello.rank);
    }
}

// The last guest takes the place.
void Rendezvous::drop(size_t index) noexcept {
    const size_t last = guests_.size() - 1;
    if (index != last) {
        std::swap(guests_[index], guests_[last]);
        if (guests_[index]->introduced) {
            if (const auto session = sessions_.find(guests_[index]->hello.secret); session != sessions_.end()) {
                session->second.ranks[guests_[index]->hello.rank] = index;
            }
        }
    }
    guests_.pop_back();
}

namespace {

[[noreturn]] void throw_refused(const Answer& answer, int32_t rank, int32_t size) {
    const std::string who = "rank " + std::to_string(rank) + " of " + std::to_string(size);
    switch (answer.status) {
        case HAL_ERROR_NOT_FOUND:
            throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                             "id: nobody waits for it; an id makes one communicator, while its maker lives");
        case HAL_ERROR_INVALID_ARGUMENT:
            throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, who + " came, but other ranks said another number of ranks");
        case HAL_ERROR_ALREADY_EXISTS:
            throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, who + " came, but that rank is there already");
        case HAL_ERROR_OUT_OF_RESOURCES:
            throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                             "the maker of the id has no descriptor left; raise its limit of open files (ulimit -n)");
        case HAL_ERROR_REMOTE:
            throw sdk::Error(HAL_ERROR_REMOTE,
                             "rank " + std::to_string(answer.rank) + " left before all ranks had come");
        default:
            throw sdk::Error(HAL_ERROR_REMOTE, "the maker of the id answered what is no answer");
    }
}

}  // namespace

std::vector<Introduction> meet(const UniqueId& id, int32_t rank, int32_t size, const Introduction& own,
                               Deadline deadline) {
    constexpr const char* what = "meeting the other ranks";
    const File socket = connect_tcp(address_of(id), deadline, what);
    send_value(socket, Hello{.secret = id.secret, .rank = rank, .size = size, .introduction = own}, deadline, what);
    const auto answer = receive_value<Answer>(socket, deadline, what);
    if (answer.magic != id_magic || answer.status != HAL_OK || answer.size != size) {
        throw_refused(answer, rank, size);
    }
    std::vector<Introduction> all(static_cast<size_t>(size));
    receive_all(socket, std::as_writable_bytes(std::span(all)), deadline, what);
    return all;
}

}  // namespace hal::xccl

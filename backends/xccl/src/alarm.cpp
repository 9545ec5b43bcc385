#include "alarm.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "signals_blocked.hpp"

namespace hal::xccl {
namespace {

constexpr const char* joining = "joining the ranks of other hosts";
constexpr int look_ms = 20;                     // how often the thread looks whether its host has failed
constexpr uint64_t long_wait_ns = 100'000'000;  // then ranks compare what they wait for
constexpr std::chrono::milliseconds reason_arrives{500};
constexpr size_t most_compared = 4096;

}  // namespace

// ---- Set-up ----

Alarm::Alarm(const std::vector<Introduction>& ranks, int32_t rank, const File& listener, const Secret& secret,
             Deadline deadline)
    : rank_(rank) {
    if (ranks[0].network.port == 0) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED,
                         "the ranks run on several hosts, but rank 0 is reached on its own only; set the option "
                         "xccl_interface, where the id is made, to an address that all hosts reach");
    }
    if (rank == 0) {
        accept_all(static_cast<int32_t>(ranks.size()), listener, secret, deadline);
    } else {
        peers_.push_back({0, connect_tcp(ranks[0].network, deadline, joining)});
        send_value(peers_[0].socket, Greeting{.rank = rank, .secret = secret}, deadline, joining);
    }
}

void Alarm::accept_all(int32_t ranks, const File& listener, const Secret& secret, Deadline deadline) {
    for (int32_t rank = 1; rank < ranks; ++rank) {
        peers_.push_back({rank, File()});
    }
    for (int32_t missing = ranks - 1; missing > 0;) {
        File socket = accept_one(listener, deadline, joining);
        const auto greeting = receive_greeting(socket, secret, ranks, deadline, joining);
        if (greeting && !peers_[static_cast<size_t>(greeting->rank) - 1].socket) {
            peers_[static_cast<size_t>(greeting->rank) - 1].socket = std::move(socket);
            --missing;
        }
    }
}

std::vector<std::byte> Alarm::exchange(const std::vector<std::byte>& own, size_t block_bytes, Deadline deadline) {
    std::vector<std::byte> result(own.size());
    if (rank_ != 0) {
        send_all(peers_[0].socket, own, deadline, joining);
        receive_all(peers_[0].socket, result, deadline, joining);
        return result;
    }
    std::vector<std::vector<std::byte>> all{own};
    for (const Peer& peer : peers_) {
        all.emplace_back(own.size());
        receive_all(peer.socket, all.back(), deadline, joining);
    }
    const auto blocks_for = [&](size_t rank) {
        std::vector<std::byte> blocks;
        for (const auto& one : all) {
            const auto first = one.begin() + static_cast<ptrdiff_t>(rank * block_bytes);
            blocks.insert(blocks.end(), first, first + static_cast<ptrdiff_t>(block_bytes));
        }
        return blocks;
    };
    for (const Peer& peer : peers_) {
        send_all(peer.socket, blocks_for(static_cast<size_t>(peer.rank)), deadline, joining);
    }
    return blocks_for(0);
}

void Alarm::watch(Host& host, std::function<void()> on_failure) {
    host_ = &host;
    on_failure_ = std::move(on_failure);
    polled_.resize(peers_.size() + 1);
    wake_ = File(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) {
        throw_system(joining);
    }
    const shared::SignalsBlocked blocked;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, std::string("no thread for the alarm: ") + error.what(),
                         error.code().value());
    }
}

Alarm::~Alarm() {
    if (thread_.joinable()) {
        const uint64_t one = 1;
        static_cast<void>(write(wake_.get(), &one, sizeof one));
        thread_.join();
        tell({.kind = Kind::goodbye, .rank = rank_});
    }
}

// ---- What this rank waits for ----

void Alarm::begin(std::vector<Activity> activities) {
    const std::lock_guard lock(mutex_);
    activities_ = std::move(activities);
    since_ns_ = shared::now_ns();
}

void Alarm::end() {
    const std::lock_guard lock(mutex_);
    since_ns_ = 0;
}

void Alarm::await_reason() {
    std::unique_lock lock(mutex_);
    reason_.wait_for(lock, reason_arrives, [this] { return host_->failed(); });
}

void Alarm::tell_waiting() {
    std::vector<Activity> activities;
    {
        const std::lock_guard lock(mutex_);
        if (since_ns_ == 0 || shared::now_ns() - since_ns_ < long_wait_ns) {
            return;
        }
        activities.swap(activities_);  // told once
    }
    for (const Activity& activity : activities) {
        if (rank_ == 0) {
            compare(activity, 0);
        } else {
            tell({.kind = Kind::waiting, .rank = rank_, .activity = activity});
        }
    }
}

void Alarm::compare(const Activity& activity, int32_t rank) {
    if (waited_for_.size() >= most_compared) {
        waited_for_.clear();
    }
    const auto [known, is_new] =
        waited_for_.emplace(std::tuple(activity.from, activity.to, activity.number), activity.call);
    if (!is_new && known->second != activity.call) {
        host_->fail_at(HAL_ERROR_INVALID_ARGUMENT, rank);
    }
}

// ---- The thread ----

void Alarm::run() noexcept {
    pthread_setname_np(pthread_self(), "hal-xccl-alarm");
    for (;;) {
        polled_[0] = {wake_.get(), POLLIN, 0};
        for (size_t i = 0; i < peers_.size(); ++i) {
            polled_[i + 1] = {peers_[i].socket.get(), POLLIN, 0};  // one that has left is -1, which poll skips
        }
        static_cast<void>(poll(polled_.data(), polled_.size(), look_ms));
        try {
            for (size_t i = 0; i < peers_.size(); ++i) {
                if (polled_[i + 1].revents != 0) {
                    hear(peers_[i]);
                }
            }
            look_at_host();
            tell_waiting();
        } catch (...) {  // no memory: the time limit is left
        }
        if (polled_[0].revents != 0) {
            return;
        }
    }
}

void Alarm::hear(Peer& peer) {
    News news;
    const ssize_t got = recv(peer.socket.get(), &news, sizeof news, MSG_DONTWAIT | MSG_PEEK);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got > 0 && static_cast<size_t>(got) < sizeof news) {
        return;  // the rest is on its way
    }
    if (got > 0 && recv(peer.socket.get(), &news, sizeof news, MSG_DONTWAIT) == static_cast<ssize_t>(sizeof news)) {
        understand(news, peer);
        return;
    }
    host_->fail_at(HAL_ERROR_REMOTE, peer.rank);
    peer.socket = File();
}

void Alarm::understand(const News& news, Peer& from) {
    switch (news.kind) {
        case Kind::failure:
            return host_->fail_at(news.status < 0 ? news.status : HAL_ERROR_REMOTE, news.rank);
        case Kind::waiting:
            return compare(news.activity, from.rank);
        case Kind::goodbye:
            from.socket = File();
            return;
    }
}

// To all that this rank has a connection to. A socket takes this much at once, unless nobody reads at the other end.
void Alarm::tell(const News& news) noexcept {
    for (const Peer& peer : peers_) {
        if (peer.socket) {
            static_cast<void>(send(peer.socket.get(), &news, sizeof news, MSG_DONTWAIT | MSG_NOSIGNAL));
        }
    }
}

void Alarm::look_at_host() {
    if (told_ || !host_->failed()) {
        return;
    }
    told_ = true;
    int32_t rank = -1;
    const hal_status status = host_->failure(nullptr, &rank);
    tell({.kind = Kind::failure, .status = status, .rank = rank});
    on_failure_();
    const std::lock_guard lock(mutex_);
    reason_.notify_all();
}

}  // namespace hal::xccl

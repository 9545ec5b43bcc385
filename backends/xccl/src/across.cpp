#include "across.hpp"

#include <algorithm>
#include <cstring>

#include "reduce.hpp"

namespace hal::xccl {
namespace {

uint64_t left_ns(Deadline deadline) noexcept {
    const uint64_t now = shared::now_ns();
    return deadline.is_never() ? UINT64_MAX : std::max(deadline.at_ns(), now) - now;
}

}  // namespace

uint64_t tag_of(const Call& call, uint64_t number) noexcept {
    uint64_t hash = 0x9e3779b97f4a7c15;
    for (const uint64_t part :
         {static_cast<uint64_t>(call.kind), static_cast<uint64_t>(call.dtype), static_cast<uint64_t>(call.op),
          static_cast<uint64_t>(call.root) & UINT32_MAX, call.count, number}) {
        hash = (hash ^ part) * 0xff51afd7ed558ccd;
        hash ^= hash >> 32U;
    }
    return hash;
}

// ---- Set-up ----

Across::Across(const Hosts& hosts, const std::vector<Introduction>& ranks, int32_t rank, const Presence& own,
               Host& host, const Secret& secret, Deadline deadline)
    : hosts_(hosts), rank_(rank), host_(host), alarm_(ranks, rank, own.network_listener, secret, deadline) {
    const Address& interface = own.introduction.network;
    network_ = open_network(interface);
    std::vector<bool> elsewhere(ranks.size());
    for (int32_t other = 0; other < hosts_.rank_count(); ++other) {
        elsewhere[static_cast<size_t>(other)] = hosts_.host_of(other) != own_host();
    }
    ranks_ = network_->make_mesh(rank, elsewhere, left_ns(deadline));
    if (is_leader(rank)) {
        leaders_ = network_->make_mesh(own_host(), std::vector<bool>(static_cast<size_t>(hosts_.count()), true),
                                       left_ns(deadline));
    }
    const std::vector<Addresses> theirs = exchange_addresses(deadline);
    // Watching begins before connecting: who waits for a rank that has died meanwhile is told.
    alarm_.watch(host_, [this] {
        ranks_->abort();
        if (leaders_) {
            leaders_->abort();
        }
    });
    try {
        connect(theirs);
    } catch (const sdk::Error& error) {
        fail(error.status());
    } catch (...) {
        host_.fail_at(HAL_ERROR_REMOTE, rank_);  // else the goodbye that follows would leave the others waiting
        throw;
    }
    host_.throw_if_failed();
}

bool Across::is_leader(int32_t rank) const noexcept {
    return hosts_.leader_of(hosts_.host_of(rank)) == rank;
}

std::vector<Across::Addresses> Across::exchange_addresses(Deadline deadline) {
    std::vector<Addresses> list(static_cast<size_t>(hosts_.rank_count()));
    for (int32_t other = 0; other < hosts_.rank_count(); ++other) {
        Addresses& to = list[static_cast<size_t>(other)];
        to.rank = ranks_->address(other);
        if (leaders_ && is_leader(other)) {
            to.leader = leaders_->address(hosts_.host_of(other));
        }
    }
    std::vector<std::byte> bytes(list.size() * sizeof(Addresses));
    std::memcpy(bytes.data(), list.data(), bytes.size());
    bytes = alarm_.exchange(bytes, sizeof(Addresses), deadline);
    std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
}

void Across::connect(const std::vector<Addresses>& theirs) {
    std::vector<MeshAddress> ranks;
    std::vector<MeshAddress> leaders;
    for (const Addresses& one : theirs) {
        ranks.push_back(one.rank);
    }
    for (int32_t host = 0; host < hosts_.count(); ++host) {
        leaders.push_back(theirs[static_cast<size_t>(hosts_.leader_of(host))].leader);
    }
    ranks_->connect(ranks);
    if (leaders_) {
        leaders_->connect(leaders);
    }
}

void Across::fail(hal_status status) {
    if (status != HAL_ERROR_TIMEOUT) {
        alarm_.await_reason();
    }
    host_.fail_at(status, -1);
}

// ---- Messages ----

Across::Messages::Messages(Across& across, const std::vector<Message>& messages) : across_(across) {
    for (const Message& message : messages) {
        const uint64_t bytes = message.count * element_bytes(message.dtype);
        std::byte* const data = bytes == 0 ? &nothing_ : message.data;
        const Call call{.dtype = message.dtype, .count = message.count};
        const uint64_t tag = tag_of(call, message.number);
        const int32_t from = message.send ? across.rank_ : message.peer;
        const int32_t to = message.send ? message.peer : across.rank_;
        activities_.push_back({from, to, message.number, call});
        across.host_.throw_if_failed();
        try {
            transfers_.push_back(message.send ? across.ranks_->send(to, data, std::max<uint64_t>(bytes, 1), tag)
                                              : across.ranks_->receive(from, data, std::max<uint64_t>(bytes, 1), tag));
        } catch (const sdk::Error& error) {
            across.fail(error.status());
            across.host_.throw_if_failed();
        }
    }
}

void Across::Messages::finish() {
    if (transfers_.empty()) {
        return;
    }
    across_.wait_for_hosts(activities_, [&](uint64_t timeout_ns) {
        for (const auto& transfer : transfers_) {
            transfer->wait(timeout_ns);
        }
    });
}

}  // namespace hal::xccl

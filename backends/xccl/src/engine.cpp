#include "engine.hpp"

#include <algorithm>
#include <cstring>

#include "checks.hpp"
#include "kernels/numbers.hpp"
#include "option_values.hpp"
#include "reduce.hpp"

namespace hal::xccl {
namespace {

std::atomic<uint64_t> engines{0};

// What a rank says when a communicator is split.
struct Member {
    int32_t color = 0;
    int32_t key = 0;
    Introduction introduction;
    Secret secret{};
};

}  // namespace

Options read_options(const hal_host* host, const char* backend) {
    const shared::OptionSource source{host, backend};
    constexpr int32_t default_ms = 600'000;
    Options options;
    options.interface = sdk::option(host, "xccl_interface", options.interface);
    options.timeout_ns =
        static_cast<uint64_t>(shared::number_option(source, "xccl_timeout_ms", default_ms, 1, INT32_MAX)) * 1'000'000;
    return options;
}

Engine::Engine(Port& port, Options options)
    : port_(port), options_(std::move(options)), number_(engines.fetch_add(1)), rendezvous_(options_.interface) {}

Engine::~Engine() {
    abort_all();
}

void Engine::abort_all() noexcept {
    communicators_.for_each_slot([](Slot& slot) {
        const std::lock_guard lock(slot.mutex);
        if (slot.communicator) {
            slot.communicator->abort();
        }
    });
}

Engine::Held Engine::hold(hal_comm comm) {
    if (Slot* const slot = communicators_.find(comm); slot != nullptr) {
        std::unique_lock lock(slot->mutex);
        if (slot->communicator) {
            return {std::move(lock), slot->communicator};
        }
    }
    throw sdk::Error(HAL_ERROR_INVALID_HANDLE,
                     comm == nullptr ? "comm is NULL" : "comm is no communicator of this back end, or was destroyed");
}

Engine::Held Engine::hold_usable(hal_comm comm) {
    Held held = hold(comm);
    held.communicator->require_usable();
    return held;
}

// f(the thread's group, or nullptr). An error inside a group is kept for its end.
template <class F>
void Engine::in_group(F&& f) {
    Group* const group = current_group(number_);
    if (group == nullptr) {
        f(nullptr);
        return;
    }
    try {
        f(group);
    } catch (const sdk::Error& error) {
        if (!group->error) {
            group->error = error;
        }
    }
}

// ---- Life of a communicator ----

void Engine::get_unique_id(void* buffer, uint64_t size_bytes) {
    sdk::require(static_cast<char*>(buffer), "buffer");
    if (size_bytes != sizeof(UniqueId)) {
        throw sdk::Error(size_bytes < sizeof(UniqueId) ? HAL_ERROR_BUFFER_TOO_SMALL : HAL_ERROR_INVALID_ARGUMENT,
                         "size_bytes is " + std::to_string(size_bytes) + ", an id has " +
                             std::to_string(sizeof(UniqueId)) + " (xccl_get_unique_id_size)");
    }
    const UniqueId id = rendezvous_.make_id();
    std::memcpy(buffer, &id, sizeof id);
}

hal_comm Engine::publish(std::shared_ptr<Communicator> communicator) {
    const auto [slot, handle] = communicators_.acquire();
    if (slot == nullptr) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, "too many communicators; destroy some");
    }
    {
        const std::lock_guard lock(slot->mutex);
        slot->communicator = std::move(communicator);
    }
    live_.fetch_add(1);
    communicators_.publish(handle);
    return handle;
}

std::shared_ptr<Communicator> Engine::join(hal_dev device, const UniqueId& id, int32_t rank, int32_t size) {
    const Deadline deadline = Deadline::after(options_.timeout_ns);
    const Presence own(own_address_towards(address_of(id)));
    return assemble(device, meet(id, rank, size, own.introduction, deadline), rank, own, id.secret, deadline);
}

std::shared_ptr<Communicator> Engine::assemble(hal_dev device, const std::vector<Introduction>& ranks, int32_t rank,
                                               const Presence& own, const Secret& secret, Deadline deadline) {
    const Hosts hosts(ranks);
    std::vector<Host::Member> members;
    for (const int32_t member : hosts.ranks_of(hosts.host_of(rank))) {
        members.push_back({ranks[static_cast<size_t>(member)], member});
    }
    auto host = std::make_unique<Host>(members, hosts.local_of(rank), own.local_listener, secret, port_.arena(device),
                                       deadline);
    host->set_timeout(options_.timeout_ns);
    auto across =
        hosts.count() == 1 ? nullptr : std::make_unique<Across>(hosts, ranks, rank, own, *host, secret, deadline);
    const Communicator::Place place{device, rank, hosts.rank_count(), own.introduction.network};
    return std::make_shared<Communicator>(port_, place, std::move(host), std::move(across));
}

void Engine::comm_init_rank(hal_dev device, int32_t rank_count, const void* id, uint64_t id_size_bytes, int32_t rank,
                            hal_comm* out_comm) {
    port_.refuse_on_stream("xccl_comm_init_rank");
    sdk::require(out_comm, "out_comm");
    static_cast<void>(port_.arena(device));
    sdk::require(static_cast<const char*>(id), "id");
    UniqueId meeting;
    if (id_size_bytes != sizeof meeting) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "id_size_bytes is " + std::to_string(id_size_bytes) +
                                                         ", an id has " + std::to_string(sizeof meeting));
    }
    std::memcpy(&meeting, id, sizeof meeting);
    if (meeting.magic != id_magic || meeting.version != id_version) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "id: these bytes are none that xccl_get_unique_id gave");
    }
    if (rank_count < 1 || rank_count > most_ranks_of_host) {
        throw sdk::Error(
            rank_count < 1 ? HAL_ERROR_INVALID_ARGUMENT : HAL_ERROR_UNSUPPORTED,
            "rank_count is " + std::to_string(rank_count) + ", expected 1 to " + std::to_string(most_ranks_of_host));
    }
    check_rank(rank, rank_count, "rank");
    const auto make = [=, this] { *out_comm = publish(join(device, meeting, rank, rank_count)); };
    if (Group* const group = current_group(number_); group != nullptr) {
        group->joins.emplace_back(make);
    } else {
        make();
    }
}

void Engine::destroy_comm(hal_comm comm) {
    port_.refuse_on_stream("xccl_destroy_comm");
    const auto communicator = find(comm);
    Slot& slot = *communicators_.find(comm);  // slots stay
    if (!communicators_.revoke(comm)) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "comm is being destroyed by another thread");
    }
    communicator->drain();
    {
        const std::lock_guard lock(slot.mutex);
        slot.communicator.reset();
    }
    communicators_.release(comm);
    live_.fetch_sub(1);
}

int32_t Engine::rank_of(hal_comm comm) {
    return find(comm)->rank();
}
int32_t Engine::size_of(hal_comm comm) {
    return find(comm)->size();
}

// ---- Operations ----

void Engine::issue(Group* group, const std::shared_ptr<Communicator>& communicator, hal_stream stream, Part part) {
    part.communicator = communicator;
    part.issue.streams.push_back(stream);
    if (group != nullptr) {
        port_.require_stream(communicator->device(), stream);
        group->add(std::move(part));
    } else {
        communicator->issue(std::move(part.issue));
    }
}

void Engine::check_memory(const Communicator& communicator, hal_dptr address, uint64_t blocks, uint64_t bytes,
                          uint64_t alignment, const char* what) {
    if (bytes == 0 || blocks == 0) {
        return;
    }
    port_.require_memory(communicator.device(), address, bytes, what);
    if (address % alignment != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(what) + ": the address is not a multiple of the " +
                                                         std::to_string(alignment) + " bytes of an element");
    }
}

void Engine::collective(const Call& call, hal_dptr send, hal_dptr recv, const void* scalar, hal_comm comm,
                        hal_stream stream) {
    in_group([&](Group* group) {
        const auto& [lock, communicator] = hold_usable(comm);
        check_type(call.kind, call.dtype, call.op);
        if (is_reduction(call.kind) && (call.op == 0 || (call.op == HAL_REDUCE_PREMUL_SUM && scalar == nullptr))) {
            throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                             call.op == 0 ? "op is 0, expected HAL_REDUCE_*"
                                          : "PREMUL_SUM needs a scalar: xccl_all_reduce_premul takes it");
        }
        if (is_rooted(call.kind)) {
            check_rank(call.root, communicator->size(), "root");
        }
        const auto ranks = static_cast<uint64_t>(communicator->size());
        const bool root = communicator->rank() == call.root;
        const uint64_t item = call.kind == Kind::barrier ? 1 : element_bytes(call.dtype);
        const uint64_t sends = send_blocks(call.kind, root, ranks);
        const uint64_t receives = recv_blocks(call.kind, root, ranks);
        const uint64_t send_bytes = checked_bytes(call.count, item, sends);
        const uint64_t recv_bytes = checked_bytes(call.count, item, receives);
        check_memory(*communicator, send, sends, send_bytes, item, "send");
        check_memory(*communicator, recv, receives, recv_bytes, item, "recv");
        check_overlap(call, send, send_bytes, recv, recv_bytes,
                      static_cast<uint64_t>(communicator->rank()) * call.count * item);
        Operation operation{.call = call};
        if (scalar != nullptr) {
            const auto* const bytes = static_cast<const std::byte*>(scalar);
            operation.scalar.assign(bytes, bytes + item);
        }
        operation.send = sends == 0 ? nullptr : reinterpret_cast<std::byte*>(send);
        operation.recv = receives == 0 ? nullptr : reinterpret_cast<std::byte*>(recv);
        if (group == nullptr) {
            communicator->issue(stream, operation);
            return;
        }
        Part part;
        part.issue.operations.push_back(std::move(operation));
        issue(group, communicator, stream, std::move(part));
    });
}

void Engine::message(bool send, hal_dptr data, uint64_t count, hal_dtype dtype, int32_t peer, hal_comm comm,
                     hal_stream stream) {
    in_group([&](Group* group) {
        const auto& [lock, communicator] = hold_usable(comm);
        check_type(Kind::none, dtype, 0);
        check_rank(peer, communicator->size(), "peer");
        const uint64_t item = element_bytes(dtype);
        check_memory(*communicator, data, 1, checked_bytes(count, item, 1), item, send ? "send" : "recv");
        Part part;
        part.issue.messages.push_back({send, peer, reinterpret_cast<std::byte*>(data), count, dtype});
        issue(group, communicator, stream, std::move(part));
    });
}

void Engine::group_start() {
    start_group(number_);
}

void Engine::group_end() {
    if (auto group = end_group(number_)) {
        group->run();
    }
}

// ---- Table 110 ----

hal_status Engine::supported(hal_collective collective, hal_dtype dtype, hal_reduce_op op) {
    if (collective < HAL_COLL_ALL_REDUCE || collective > HAL_COLL_BARRIER) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "collective is " + std::to_string(collective) + ", expected HAL_COLL_*");
    }
    if (collective == HAL_COLL_BARRIER) {
        return HAL_OK;
    }
    const bool reduces =
        collective == HAL_COLL_ALL_REDUCE || collective == HAL_COLL_REDUCE || collective == HAL_COLL_REDUCE_SCATTER;
    const bool yes = reduces
                         ? can_reduce(dtype, op) && (op != HAL_REDUCE_PREMUL_SUM || collective == HAL_COLL_ALL_REDUCE)
                         : element_bytes(dtype) != 0;
    if (!yes) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED, "collective " + std::to_string(collective) +
                                                    " is not offered for dtype " + shared::dtype_text(dtype) +
                                                    (reduces ? " and op " + std::to_string(op) : ""));
    }
    return HAL_OK;
}

void Engine::alltoallv(hal_dptr send, Blocks sends, hal_dptr recv, Blocks receives, hal_dtype dtype, hal_comm comm,
                       hal_stream stream) {
    in_group([&](Group* group) {
        const auto& [lock, communicator] = hold_usable(comm);
        check_type(Kind::none, dtype, 0);
        sdk::require(sends.counts, "send_counts");
        sdk::require(sends.displacements, "send_displacements");
        sdk::require(receives.counts, "recv_counts");
        sdk::require(receives.displacements, "recv_displacements");
        const uint64_t item = element_bytes(dtype);
        Part part;
        for (const bool sending : {true, false}) {
            const Blocks& blocks = sending ? sends : receives;
            for (int32_t peer = 0; peer < communicator->size(); ++peer) {
                const uint64_t count = blocks.counts[peer];
                const hal_dptr data = (sending ? send : recv) + checked_bytes(blocks.displacements[peer], item, 1);
                check_memory(*communicator, data, 1, checked_bytes(count, item, 1), item, sending ? "send" : "recv");
                part.issue.messages.push_back({sending, peer, reinterpret_cast<std::byte*>(data), count, dtype});
            }
        }
        issue(group, communicator, stream, std::move(part));
    });
}

void Engine::split(hal_comm comm, int32_t color, int32_t key, hal_comm* out_comm) {
    port_.refuse_on_stream("xccl_split");
    hal_comm& out = sdk::require(out_comm, "out_comm");
    const auto parent = find(comm);
    if (current_group(number_) != nullptr) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "xccl_split blocks and cannot be part of a group");
    }
    if (color < -1) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "color is " + std::to_string(color) + ", expected -1 for none, or at least 0");
    }
    const Presence presence(parent->network());
    const Member own{color, key, presence.introduction, random_secret()};
    std::vector<std::byte> bytes(sizeof own);
    std::memcpy(bytes.data(), &own, sizeof own);
    const std::vector<std::byte> all = parent->exchange(bytes);
    std::vector<std::pair<Member, int32_t>> members;  // with the rank in the parent
    for (int32_t rank = 0; rank < parent->size(); ++rank) {
        Member member;
        std::memcpy(&member, all.data() + static_cast<size_t>(rank) * sizeof member, sizeof member);
        if (member.color == color) {
            members.emplace_back(member, rank);
        }
    }
    if (color == -1) {
        out = nullptr;
        return;
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const auto& a, const auto& b) { return a.first.key < b.first.key; });
    std::vector<Introduction> introductions;
    int32_t rank = 0;
    for (size_t i = 0; i < members.size(); ++i) {
        introductions.push_back(members[i].first.introduction);
        rank = members[i].second == parent->rank() ? static_cast<int32_t>(i) : rank;
    }
    out = publish(assemble(parent->device(), introductions, rank, presence, members[0].first.secret,
                           Deadline::after(options_.timeout_ns)));
}

void Engine::set_timeout(hal_comm comm, uint64_t timeout_ns) {
    if (timeout_ns == 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "timeout_ns is 0; HAL_NO_TIMEOUT waits for ever");
    }
    find(comm)->host().set_timeout(timeout_ns);
}

hal_status Engine::async_error(hal_comm comm, std::string* out_text) {
    return find(comm)->host().failure(out_text);
}

void Engine::abort(hal_comm comm) {
    find(comm)->abort();
}

void Engine::finalize(hal_comm comm) {
    port_.refuse_on_stream("xccl_finalize");
    find(comm)->finish();
}

}  // namespace hal::xccl

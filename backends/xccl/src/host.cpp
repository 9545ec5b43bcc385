#include "host.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cores.hpp"

namespace hal::xccl {
namespace {

// Spinning for about as long as waking a sleeper takes at most doubles the worst case.
constexpr uint64_t spin_ns = 50'000;
// A sleeper looks whether its peer still lives.
constexpr uint64_t nap_ns = 20'000'000;

// So that the fence of a process that is about to sleep reaches this one.
bool register_membarrier() noexcept {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

struct flock byte_of(int32_t rank, short type) noexcept {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = rank;
    lock.l_len = 1;
    return lock;
}

constexpr const char* joining = "joining the ranks of this host";

// One of another user does not even cost the time of a greeting.
bool may_greet(const File& socket) noexcept {
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0 || geteuid() == 0);
}

}  // namespace

Host::Host(const std::vector<Member>& members, int32_t rank, const File& listener, const Secret& secret,
           const Arena& arena, Deadline deadline)
    : rank_(rank),
      size_(static_cast<int32_t>(members.size())),
      layout_(size_),
      arena_(arena),
      brief_polls_(0),
      crowded_(static_cast<uint32_t>(size_) > shared::usable_cores()) {
    for (const Member& member : members) {
        names_.push_back(member.name);
    }
    brief_polls_ = crowded_ ? 16 : 128;
    const uint64_t now = shared::now_ns();
    set_timeout(deadline.is_never() ? HAL_NO_TIMEOUT : std::max(deadline.at_ns(), now) - now);
    arenas_.resize(members.size());
    arenas_[index(rank)] = map_own(arena);
    if (rank == 0) {
        lead(members, listener, secret, deadline);
    } else {
        follow(members[0].introduction, secret, deadline);
    }
    // From here on whoever is missing is noticed.
    const bool registered = register_membarrier();
    header().without_membarrier.fetch_add(registered ? 0 : 1);
    const uint64_t probed = shared::now_ns();
    Progress& own = progress(rank_);
    own.process = getpid();
    own.probe = reinterpret_cast<uint64_t>(&probed);
    own.probed = probed;
    meet_all(1);
    header().without_reads.fetch_add(can_read_all() ? 0 : 1);
    meet_all(setup_steps);
    fences_ = header().without_membarrier.load() != 0;
    reads_private_ = header().without_reads.load() == 0;
}

void Host::meet_all(uint64_t at) {
    publish(step(rank_), at);
    for (int32_t other = 0; other < size_; ++other) {
        wait(other, step(other), at);
    }
}

Host::~Host() = default;

void Host::take_control(int file) {
    char path[40];
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    lock_ = File(open(path, O_RDWR | O_CLOEXEC));
    struct flock mine = byte_of(rank_, F_WRLCK);
    if (!lock_ || fcntl(lock_.get(), F_OFD_SETLK, &mine) != 0) {
        throw_system("the memory that the ranks of a communicator share");
    }
    control_ = map_file(file, layout_.bytes());
}

void Host::take_arena(int32_t rank, int file, uint64_t bytes) {
    if (rank != rank_ && bytes != 0) {
        arenas_[index(rank)] = map_file(file, bytes);
    }
}

void Host::lead(const std::vector<Member>& members, const File& listener, const Secret& secret, Deadline deadline) {
    const File control(make_memory_file("hal-xccl", layout_.bytes()));
    take_control(control.get());
    std::vector<File> sockets(members.size());
    std::vector<File> files(members.size());
    std::vector<uint64_t> bytes(members.size(), 0);
    bytes[0] = arena_.bytes;
    for (size_t missing = members.size() - 1; missing > 0;) {
        File socket = accept_one(listener, deadline, joining);
        try {
            const auto greeting =
                may_greet(socket) ? receive_greeting(socket, secret, size_, deadline, joining) : std::nullopt;
            if (!greeting || sockets[static_cast<size_t>(greeting->rank)]) {
                continue;  // a stranger
            }
            const auto who = static_cast<size_t>(greeting->rank);
            files[who] = std::move(receive_files(socket, 1, deadline, joining).front());
            bytes[who] = greeting->arena_bytes;
            const int control_file = control.get();
            send_files(socket, std::span(&control_file, 1), deadline, joining);
            sockets[who] = std::move(socket);
            --missing;
        } catch (const sdk::Error& error) {
            if (error.status() != HAL_ERROR_REMOTE) {
                throw;
            }
        }  // a member that left: then the others wait for it until they are told
    }
    std::vector<int> all{arena_.file};
    for (size_t member = 1; member < members.size(); ++member) {
        static_cast<void>(receive_value<char>(sockets[member], deadline, joining));  // it holds its lock
        all.push_back(files[member].get());
        take_arena(static_cast<int32_t>(member), files[member].get(), bytes[member]);
    }
    for (size_t member = 1; member < members.size(); ++member) {
        send_all(sockets[member], std::as_bytes(std::span(bytes)), deadline, joining);
        send_files(sockets[member], all, deadline, joining);
    }
}

void Host::follow(const Introduction& leader, const Secret& secret, Deadline deadline) {
    const size_t name_bytes = strnlen(leader.socket.data(), leader.socket.size());
    const File socket = connect_local(std::string(leader.socket.data(), name_bytes), deadline, joining);
    send_value(socket, Greeting{.rank = rank_, .secret = secret, .arena_bytes = arena_.bytes}, deadline, joining);
    send_files(socket, std::span(&arena_.file, 1), deadline, joining);
    take_control(receive_files(socket, 1, deadline, joining).front().get());
    send_value(socket, 'l', deadline, joining);
    std::vector<uint64_t> bytes(index(size_));
    receive_all(socket, std::as_writable_bytes(std::span(bytes)), deadline, joining);
    const std::vector<File> files = receive_files(socket, index(size_), deadline, joining);
    for (int32_t rank = 0; rank < size_; ++rank) {
        take_arena(rank, files[index(rank)].get(), bytes[index(rank)]);
    }
}

// ---- Memory ----

Location Host::locate(const void* pointer, uint64_t bytes) const noexcept {
    const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - arena_.base;
    if (offset < arena_.bytes && bytes <= arena_.bytes - offset) {
        return {static_cast<uint32_t>(rank_), 0, offset};
    }
    const uint64_t among_shared = reinterpret_cast<uint64_t>(pointer) - reinterpret_cast<uint64_t>(control_->base());
    if (among_shared < control_->bytes() && bytes <= control_->bytes() - among_shared) {
        return {shared_arena, 0, among_shared};
    }
    return bytes == 0 ? Location() : Location{private_memory, 0, reinterpret_cast<uint64_t>(pointer)};
}

std::byte* Host::reach(const Location& location, uint64_t bytes) const {
    const Mapping* const memory = location.arena == shared_arena  ? control_.get()
                                  : location.arena < index(size_) ? arenas_[location.arena].get()
                                                                  : nullptr;
    if (memory == nullptr || location.offset > memory->bytes() || bytes > memory->bytes() - location.offset) {
        throw sdk::Error(HAL_ERROR_REMOTE, "a rank says that its data lie outside its memory");
    }
    return memory->base() + location.offset;
}

namespace {

// False if not all could be read.
bool read_process(int32_t process, void* to, uint64_t address, uint64_t bytes) noexcept {
    for (uint64_t done = 0; done < bytes;) {
        const iovec here{static_cast<std::byte*>(to) + done, bytes - done};
        const iovec there{reinterpret_cast<void*>(address + done), bytes - done};
        const ssize_t got = process_vm_readv(process, &here, 1, &there, 1, 0);
        if (got <= 0) {
            return false;
        }
        done += static_cast<uint64_t>(got);
    }
    return true;
}

}  // namespace

// Processes of other name spaces have other numbers for the same process: the word tells.
bool Host::can_read_all() const noexcept {
    for (int32_t rank = 0; rank < size_; ++rank) {
        const Progress& other = progress(rank);
        uint64_t word = 0;
        if (!read_process(other.process, &word, other.probe, sizeof word) || word != other.probed) {
            return false;
        }
    }
    return true;
}

void Host::read_private(int32_t rank, std::byte* to, uint64_t address, uint64_t bytes) const {
    if (!read_process(progress(rank).process, to, address, bytes)) {
        throw sdk::Error(HAL_ERROR_REMOTE, "the memory of rank " + std::to_string(names_[index(rank)]) +
                                               " cannot be read: it has ended, or names memory that it does not have");
    }
}

// ---- Waiting ----

void Host::fence_of_sleeper() const noexcept {
    if (!fences_) {
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    }
}

void Host::ring() const noexcept {
    header().bell.fetch_add(1, std::memory_order_seq_cst);
    shared::futex_wake(header().bell, INT32_MAX, true);
}

Host::Patience::Patience(const Host& host, int32_t rank) noexcept
    : host_(host),
      rank_(rank),
      deadline_(rank < 0 ? Deadline::never() : Deadline::after(host.timeout_ns_.load(std::memory_order_relaxed))) {}

bool Host::Patience::spin() noexcept {
    const uint64_t now = shared::now_ns();
    if (spin_until_ns_ == 0) {
        spin_until_ns_ = now + spin_ns;
    }
    if (!host_.crowded_) {
        for (int i = 0; i < 32; ++i) {
            shared::cpu_pause();
        }
    }
    // The rank that is waited for may want this core. Without this an 8-byte all-reduce took 55 us as soon as something
    // else ran on the machine: each rank spun where the other could have run.
    shared::yield();
    return now >= spin_until_ns_;
}

void Host::Patience::sleep(uint32_t bell) const noexcept {
    const uint64_t now = shared::now_ns();
    const uint64_t left = deadline_.at_ns() > now ? deadline_.at_ns() - now : 0;
    shared::futex_wait(host_.header().bell, bell, Deadline::after(std::min(nap_ns, left)), true);
}

// ---- Failure ----

void Host::fail_at(hal_status status, int32_t name) const noexcept {
    uint64_t none = 0;
    const uint64_t value = static_cast<uint32_t>(status) | static_cast<uint64_t>(name + 1) << 32U;
    if (header().failure.compare_exchange_strong(none, value, std::memory_order_seq_cst)) {
        ring();
    }
}

hal_status Host::failure(std::string* out_text, int32_t* out_name) const {
    const uint64_t value = header().failure.load(std::memory_order_acquire);
    const auto status = static_cast<hal_status>(static_cast<int32_t>(value & UINT32_MAX));
    const auto name = static_cast<int32_t>(value >> 32U) - 1;
    if (out_name != nullptr) {
        *out_name = name;
    }
    if (out_text != nullptr && value != 0) {
        const std::string who = name < 0 ? "a rank" : "rank " + std::to_string(name);
        *out_text = status == HAL_ERROR_REMOTE    ? who + " has ended, or a stream of it has failed"
                    : status == HAL_ERROR_TIMEOUT ? "the time limit passed while " + who + " was waited for"
                    : status == HAL_ERROR_ABORTED ? who + " has aborted the communicator"
                                                  : who +
                                                        " called another collective than the others, or with another "
                                                        "count, type, operation or root";
    }
    return status;
}

void Host::throw_failure() const {
    std::string text;
    const hal_status status = failure(&text);
    throw sdk::Error(status, "the communicator has failed: " + text);
}

bool Host::alive(int32_t rank) const noexcept {
    struct flock other = byte_of(rank, F_WRLCK);
    return rank == rank_ || fcntl(lock_.get(), F_OFD_GETLK, &other) != 0 || other.l_type != F_UNLCK;
}

}  // namespace hal::xccl

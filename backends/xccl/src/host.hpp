// The ranks of one communicator that run on one host: the memory they share, how one waits for another, and how all
// learn that it is over. Who dies is noticed by a lock that the kernel drops with its last descriptor.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "control.hpp"
#include "futex.hpp"
#include "hal/sdk.hpp"
#include "introduction.hpp"
#include "mapping.hpp"
#include "socket.hpp"
#include "unique_id.hpp"

namespace hal::xccl {

// Ranks are those of the host, from 0, unless it says otherwise.
class Host {
  public:
    struct Member {
        Introduction introduction;
        int32_t name;  // its rank in the communicator
    };
    // Blocks until all members have come. `listener` is what `members[rank]` introduces; rank 0 leads. Throws
    // sdk::Error as sockets and mappings do.
    Host(const std::vector<Member>& members, int32_t rank, const File& listener, const Secret& secret,
         const Arena& arena, Deadline deadline);
    ~Host();
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    [[nodiscard]] int32_t rank() const noexcept { return rank_; }
    [[nodiscard]] int32_t size() const noexcept { return size_; }

    // ---- Memory ----

    [[nodiscard]] Slot& slot(int32_t rank, uint64_t sequence) const noexcept {
        return *reinterpret_cast<Slot*>(control_->base() + layout_.slot(index(rank), sequence % 2));
    }
    [[nodiscard]] std::atomic<uint64_t>& step(int32_t rank) const noexcept { return progress(rank).step; }
    [[nodiscard]] Channel& channel(int32_t from, int32_t to) const noexcept {
        return *reinterpret_cast<Channel*>(control_->base() + layout_.channel(index(from), index(to)));
    }
    [[nodiscard]] std::byte* staging(int32_t rank, bool recv) const noexcept {
        return control_->base() + layout_.staging(index(rank), recv);
    }
    // Shared by all, for what goes to and comes from other hosts.
    [[nodiscard]] std::byte* exchange_area() const noexcept { return control_->base() + layout_.exchange_area(); }
    [[nodiscard]] std::byte* channel_staging(int32_t from, int32_t to) const noexcept {
        return control_->base() + layout_.channel_staging(index(from), index(to));
    }
    // What the others are told about own memory.
    [[nodiscard]] Location locate(const void* pointer, uint64_t bytes) const noexcept;
    // The memory behind it here. Throws REMOTE for what lies outside the rank's arena: that rank is broken.
    [[nodiscard]] std::byte* reach(const Location& location, uint64_t bytes) const;

    // May the ranks read each other's private memory? The kernel says so to processes of one user, unless it is told
    // not to.
    [[nodiscard]] bool reads_private() const noexcept { return reads_private_; }
    // Throws REMOTE: the rank is gone, or says that its data lie where it has no memory.
    void read_private(int32_t rank, std::byte* to, uint64_t address, uint64_t bytes) const;

    // ---- Waiting ----

    // Makes the value visible and wakes who sleeps for it. The store must come before the look at the sleepers. A full
    // fence would wait for the cache line, which the others still read: half of an 8-byte all-reduce. So whoever is
    // about to sleep has all processors do it (membarrier), where the kernel lets all ranks.
    void publish(std::atomic<uint64_t>& word, uint64_t value) const noexcept {
        if (fences_) {
            word.store(value, std::memory_order_seq_cst);
        } else {
            word.store(value, std::memory_order_release);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        wake();
    }
    // After a change that is sequentially consistent.
    void wake() const noexcept {
        if (header().sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]] {
            ring();
        }
    }
    // Until the word of a rank is at least the value. Throws REMOTE, TIMEOUT, ABORTED or what another rank failed with.
    // idle() is called while there is nothing else to do; true keeps the thread awake.
    template <class Idle>
    void wait(int32_t rank, const std::atomic<uint64_t>& word, uint64_t value, Idle&& idle) const {
        for (int i = 0; i < brief_polls_; ++i) {
            if (word.load(std::memory_order_acquire) >= value) [[likely]] {
                return;
            }
            shared::cpu_pause();
        }
        Patience patience(*this, rank);
        while (word.load(std::memory_order_acquire) < value) {
            patience.pause(idle(), [&] { return word.load(std::memory_order_seq_cst) >= value; });
        }
    }
    void wait(int32_t rank, const std::atomic<uint64_t>& word, uint64_t value) const {
        wait(rank, word, value, [] { return false; });
    }

    // One wait: spins, yields, sleeps; looks after the rank it waits for. -1: for something of this process, without
    // limit.
    class Patience {
      public:
        Patience(const Host& host, int32_t rank) noexcept;
        // A moment. Throws as wait() does.
        template <class Ready>
        void pause(bool stay_awake, Ready&& ready) {
            host_.throw_if_failed();
            if (stay_awake || !spin()) {
                return;
            }
            {
                const Sleeper sleeper(host_.header());
                host_.fence_of_sleeper();
                const uint32_t bell = host_.header().bell.load(std::memory_order_seq_cst);
                if (!ready() && !host_.failed()) {
                    sleep(bell);
                }
            }
            if (!ready()) {
                look_after_rank([&] { return ready(); });
            }
        }

      private:
        // Counted while it lives: who publishes rings the bell.
        struct Sleeper {
            explicit Sleeper(Header& header) noexcept : header_(header) {
                header_.sleepers.fetch_add(1, std::memory_order_seq_cst);
            }
            ~Sleeper() { header_.sleepers.fetch_sub(1, std::memory_order_relaxed); }
            Sleeper(const Sleeper&) = delete;
            Sleeper& operator=(const Sleeper&) = delete;
            Header& header_;
        };
        // True once it has lasted long enough.
        [[nodiscard]] bool spin() noexcept;
        void sleep(uint32_t bell) const noexcept;
        template <class Ready>
        void look_after_rank(Ready&& ready) const {
            if (rank_ >= 0 && !host_.alive(rank_) && !ready()) {
                host_.fail(HAL_ERROR_REMOTE, rank_);
            } else if (deadline_.passed()) {
                host_.fail(HAL_ERROR_TIMEOUT, rank_);
            }
            host_.throw_if_failed();
        }

        const Host& host_;
        int32_t rank_;
        Deadline deadline_;
        uint64_t spin_until_ns_ = 0;
    };

    // Of a silent peer; HAL_NO_TIMEOUT waits for ever.
    void set_timeout(uint64_t timeout_ns) noexcept { timeout_ns_.store(timeout_ns, std::memory_order_relaxed); }
    [[nodiscard]] uint64_t timeout_ns() const noexcept { return timeout_ns_.load(std::memory_order_relaxed); }

    // ---- Failure ----

    // The first one counts, for all ranks; wakes them. `rank`: whom it is about.
    void fail(hal_status status, int32_t rank) const noexcept { fail_at(status, names_[index(rank)]); }
    // The same by the rank in the communicator; -1: nobody knows who.
    void fail_at(hal_status status, int32_t name) const noexcept;
    [[nodiscard]] bool failed() const noexcept { return header().failure.load(std::memory_order_acquire) != 0; }
    // HAL_OK, or the status; in words, and whom (by the rank in the communicator) it is about.
    [[nodiscard]] hal_status failure(std::string* out_text, int32_t* out_name = nullptr) const;
    void throw_if_failed() const {
        if (failed()) [[unlikely]] {
            throw_failure();
        }
    }
    [[nodiscard]] bool alive(int32_t rank) const noexcept;

  private:
    friend class Patience;

    [[nodiscard]] static uint64_t index(int32_t rank) noexcept { return static_cast<uint64_t>(rank); }
    [[nodiscard]] Header& header() const noexcept { return *reinterpret_cast<Header*>(control_->base()); }
    void lead(const std::vector<Member>& members, const File& listener, const Secret& secret, Deadline deadline);
    void follow(const Introduction& leader, const Secret& secret, Deadline deadline);
    [[nodiscard]] Progress& progress(int32_t rank) const noexcept {
        return *reinterpret_cast<Progress*>(control_->base() + layout_.progress(index(rank)));
    }
    [[nodiscard]] bool can_read_all() const noexcept;
    void meet_all(uint64_t step);
    void take_control(int file);
    void take_arena(int32_t rank, int file, uint64_t bytes);
    void ring() const noexcept;
    void fence_of_sleeper() const noexcept;
    [[noreturn]] void throw_failure() const;

    const int32_t rank_;
    const int32_t size_;
    std::vector<int32_t> names_;
    const Layout layout_;
    const Arena arena_;
    int brief_polls_;
    bool crowded_;        // more ranks than cores
    bool fences_ = true;  // some rank has no membarrier
    bool reads_private_ = false;
    std::atomic<uint64_t> timeout_ns_{UINT64_MAX};
    File lock_;  // the control file, opened by this rank alone: its lock on byte `rank` says that it lives
    std::shared_ptr<const Mapping> control_;
    std::vector<std::shared_ptr<const Mapping>> arenas_;
};

}  // namespace hal::xccl

// The entries of tables 10 and 110, for a back end that gives a Port. All throw sdk::Error; clauses, ownership and what
// the arguments mean stand with the tables (hal/tables/xccl.def, xccl_ext.def).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "communicator.hpp"
#include "group.hpp"
#include "handles.hpp"
#include "port.hpp"
#include "rendezvous.hpp"

namespace hal::xccl {

struct Options {
    std::string interface = "127.0.0.1";  // where ids listen
    uint64_t timeout_ns = 0;              // of a silent peer
};

// Reads `xccl_interface` and `xccl_timeout_ms`. Throws INVALID_ARGUMENT naming option, value and what is allowed.
[[nodiscard]] Options read_options(const hal_host* host, const char* backend);

// The part that needs no instance.
inline constexpr uint64_t unique_id_bytes = sizeof(UniqueId);

class Engine {
  public:
    Engine(Port& port, Options options);
    // Aborts what is left.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    // ---- Table 10 ----

    void get_unique_id(void* buffer, uint64_t size_bytes);
    void comm_init_rank(hal_dev device, int32_t rank_count, const void* id, uint64_t id_size_bytes, int32_t rank,
                        hal_comm* out_comm);
    void destroy_comm(hal_comm comm);
    // Those that move data; the kinds and what matters on which rank: operation.hpp.
    void collective(const Call& call, hal_dptr send, hal_dptr recv, const void* scalar, hal_comm comm,
                    hal_stream stream);
    void message(bool send, hal_dptr data, uint64_t count, hal_dtype dtype, int32_t peer, hal_comm comm,
                 hal_stream stream);
    void group_start();
    void group_end();
    [[nodiscard]] int32_t rank_of(hal_comm comm);
    [[nodiscard]] int32_t size_of(hal_comm comm);

    // ---- Table 110 ----

    [[nodiscard]] static hal_status supported(hal_collective collective, hal_dtype dtype, hal_reduce_op op);
    struct Blocks {
        const uint64_t* counts;
        const uint64_t* displacements;
    };
    void alltoallv(hal_dptr send, Blocks sends, hal_dptr recv, Blocks receives, hal_dtype dtype, hal_comm comm,
                   hal_stream stream);
    void split(hal_comm comm, int32_t color, int32_t key, hal_comm* out_comm);
    void set_timeout(hal_comm comm, uint64_t timeout_ns);
    [[nodiscard]] hal_status async_error(hal_comm comm, std::string* out_text);
    void abort(hal_comm comm);
    void finalize(hal_comm comm);

    // ---- For the back end's life ----

    [[nodiscard]] uint64_t live() const noexcept { return live_.load(); }
    // Before streams are ended: what waits for other ranks gives up.
    void abort_all() noexcept;

  private:
    struct Slot {
        std::mutex mutex;
        std::shared_ptr<Communicator> communicator;
    };
    using Communicators = shared::HandleTable<Slot, hal_comm, 0xCC>;

    // The communicator of a live handle, which stays while this lives. Issuing needs no reference of its own, which
    // would be two more atomic operations for each collective.
    struct Held {
        std::unique_lock<std::mutex> lock;
        const std::shared_ptr<Communicator>& communicator;
    };
    [[nodiscard]] Held hold(hal_comm comm);
    [[nodiscard]] std::shared_ptr<Communicator> find(hal_comm comm) { return hold(comm).communicator; }
    // Also throws the communicator's failure.
    [[nodiscard]] Held hold_usable(hal_comm comm);
    [[nodiscard]] hal_comm publish(std::shared_ptr<Communicator> communicator);
    [[nodiscard]] std::shared_ptr<Communicator> join(hal_dev device, const UniqueId& id, int32_t rank, int32_t size);
    [[nodiscard]] std::shared_ptr<Communicator> assemble(hal_dev device, const std::vector<Introduction>& ranks,
                                                         int32_t rank, const Presence& own, const Secret& secret,
                                                         Deadline deadline);
    // Now, or with the group.
    void issue(Group* group, const std::shared_ptr<Communicator>& communicator, hal_stream stream, Part part);
    template <class F>
    void in_group(F&& f);
    void check_memory(const Communicator& communicator, hal_dptr address, uint64_t blocks, uint64_t bytes,
                      uint64_t alignment, const char* what);

    Port& port_;
    const Options options_;
    const uint64_t number_;  // of the engines of this process: a thread's groups are apart
    Rendezvous rendezvous_;
    Communicators communicators_;
    std::atomic<uint64_t> live_{0};
};

}  // namespace hal::xccl

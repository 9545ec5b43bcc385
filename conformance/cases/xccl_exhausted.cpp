// Table 10: communicators while the process has no descriptors or no memory left. Whoever lacks them is told, the
// others wait no longer than they said, and with enough of them all is well again.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "xccl_faults.hpp"

namespace hal::conformance {
namespace {

// With the one that reading the folder takes.
size_t open_descriptors() {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

uint64_t address_space() {
    uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// While it lives the process gets no more than `spare` of it.
class Exhausted {
  public:
    Exhausted(std::string_view of, uint64_t spare) : of_(of == "memory" ? RLIMIT_AS : RLIMIT_NOFILE) {
        getrlimit(of_, &before_);
        const uint64_t used = of == "memory" ? address_space() : open_descriptors() - 1;
        const rlimit tight{used + spare, before_.rlim_max};
        setrlimit(of_, &tight);
    }
    ~Exhausted() { setrlimit(of_, &before_); }
    Exhausted(const Exhausted&) = delete;
    Exhausted& operator=(const Exhausted&) = delete;

  private:
    decltype(RLIMIT_AS) of_;
    rlimit before_{};
};

// With hardly a descriptor left: works or is refused with a text, and ends; with descriptors it works again.
HAL_CASE("45079.T10.xccl_comm_init_rank.fault.fd_limit", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io()}, cls::long_)
(Test& t) {
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    const Impatient other(t);
    const Api& api = other.backend.api();
    uint64_t size = 0;
    t.ok(api.xccl_get_unique_id_size(&size));
    std::string id(size, '\0');
    t.ok(api.xccl_get_unique_id(id.data(), size));
    for (const size_t spare : {0, 1, 2, 3}) {
        const auto in = t.context("spare", spare);
        const rlimit tight{open_descriptors() - 1 + spare, before.rlim_max};
        hal_comm comm = nullptr;
        setrlimit(RLIMIT_NOFILE, &tight);
        const hal_status got = init(api, 0, 1, id, 0, &comm);
        setrlimit(RLIMIT_NOFILE, &before);
        t.check(got == HAL_OK ? comm != nullptr : got < 0 && !Host::last_error().text.empty(),
                "a communicator, or a refusal with a text");
        if (got == HAL_OK) {
            t.ok(api.xccl_destroy_comm(comm));
        }
    }
    hal_comm comm = nullptr;
    t.ok(api.xccl_get_unique_id(id.data(), size));
    t.ok(init(api, 0, 1, id, 0, &comm), "with descriptors again");
    t.ok(api.xccl_destroy_comm(comm));
    t.ok(other.backend.finalize());
}

// A sanitizer ends the process that gets no memory.
over what_is_exhausted() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return {"of", {"descriptors"}};
#else
    return {"of", {"descriptors", "memory"}};
#endif
}

// One rank after the other gets hardly any of it. It has a communicator or is told why not; the others have one, or
// give up in the time that they were given.
HAL_CASE("45079.T10.xccl_comm_init_rank.fault.oom_in_init", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io(), E::xccl_all_reduce}, what_is_exhausted(), so_many_ranks({2, 3}), cls::long_)
(Test& t) {
    const std::vector<uint64_t> spares =
        t.param("of") == "memory" ? std::vector<uint64_t>{0, 1U << 20U, 64U << 20U} : std::vector<uint64_t>{0, 2, 4};
    const Impatient other(t);
    for (int poor = 0; poor < t.ranks(); ++poor) {
        for (const uint64_t spare : spares) {
            const auto in_rank = t.context("poor", static_cast<uint64_t>(poor));
            const auto in_spare = t.context("spare", spare);
            const std::string id = t.unique_id();
            hal_comm comm = nullptr;
            hal_status got = HAL_OK;
            const auto begin = std::chrono::steady_clock::now();
            if (t.rank() == poor) {
                const Exhausted exhausted(t.param("of"), spare);
                got = init(other.backend.api(), t.dev, t.ranks(), id, t.rank(), &comm);
            } else {
                got = init(other.backend.api(), t.dev, t.ranks(), id, t.rank(), &comm);
            }
            t.check(std::chrono::steady_clock::now() - begin < patience + t.limits.finish, "the call ends in time");
            t.check(got == HAL_OK ? comm != nullptr : got < 0 && comm == nullptr && !Host::last_error().text.empty(),
                    "a communicator, or a refusal with a text");
            if (comm != nullptr) {
                t.ok(other.backend.api().xccl_destroy_comm(comm));
            }
            t.rank_barrier();
        }
    }
    t.ok(other.backend.finalize());
    Shape shape;
    shape.count = 100;
    const hal_comm comm = t.communicator();
    if (t.check(comm != nullptr, "a communicator when there is enough again")) {
        run_round(t, collective_of("xccl_all_reduce"), shape, comm, t.stream(t.dev));
    }
}

}  // namespace
}  // namespace hal::conformance

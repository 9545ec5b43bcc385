// Tables 10 and 110: ranks that die, come late, stand still, or never come. Whoever is left is told REMOTE, TIMEOUT or
// ABORTED within a limit, never waits for ever, and has a device that works.
#include "xccl_faults.hpp"

#include <algorithm>
#include <thread>

namespace hal::conformance {
namespace {

constexpr auto late = std::chrono::milliseconds(200);

bool gave_up(hal_status status) {
    return status == HAL_ERROR_REMOTE || status == HAL_ERROR_TIMEOUT || status == HAL_ERROR_ABORTED;
}

void expect_gave_up(Test& t, hal_status got, std::string_view what, Where where = Where::here()) {
    t.check(gave_up(got), std::string(what) + ": REMOTE, TIMEOUT or ABORTED, not " + to_string(got), where);
}

// The call may be refused already: a back end that has noticed the death by itself knows better than to take more work.
void expect_death_noticed(Test& t, hal_status called, hal_comm comm, hal_stream stream, std::string_view what,
                          Where where = Where::here()) {
    if (called == HAL_OK) {
        expect_gives_up(t, comm, stream, what, where);
        return;
    }
    expect_gave_up(t, called, what, where);
    if (t.api.xccl_get_async_error) {
        t.eq(called, t.api.xccl_get_async_error(comm), "the error of the communicator", where);
    }
}

hal_status wait_for(Test& t, hal_stream stream) {
    const auto limit = static_cast<uint64_t>(std::chrono::nanoseconds(2 * t.limits.finish).count());
    return t.api.synchronize_stream(t.dev, stream, limit);
}

void expect_device_works(Test& t, Where where = Where::here()) {
    const Pattern pattern = t.pattern();
    const DeviceBuffer& buffer = t.device(pattern, 4099, t.dev, where);
    t.expect(buffer, pattern, "the device after it", where);
}

// The survivors make a communicator of their own, with which they reach each other.
void expect_survivors_work(Test& t, const std::vector<int>& survivors, Where where = Where::here()) {
    const hal_comm comm = t.communicator(survivors, where);
    if (comm != nullptr) {
        const auto rank = std::find(survivors.begin(), survivors.end(), t.rank()) - survivors.begin();
        const hal_stream stream = t.stream(t.dev);
        Shape shape;
        shape.count = 100;
        Round round(t, collective_of("xccl_all_reduce"), shape, static_cast<int>(survivors.size()),
                    static_cast<int>(rank), where);
        t.ok(round.call(comm, stream), "a collective of the survivors", where);
        waited(t, stream, where);
        round.expect();
    }
}

// ---- Making a communicator ----

HAL_CASE("45079.T10.xccl_comm_init_rank.fault.missing_rank_times_out", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io()}, so_many_ranks({2}), cls::long_)
(Test& t) {
    const std::string id = t.unique_id();
    if (t.rank() == 0) {
        const Impatient other(t);
        hal_comm comm = nullptr;
        expect_gave_up(t, init(other.backend.api(), t.dev, 2, id, 0, &comm), "a rank that never comes");
        t.check(comm == nullptr, "no communicator");
        t.check(!Host::last_error().text.empty(), "a text of it");
        t.ok(other.backend.finalize());
        expect_device_works(t);
    }
    t.rank_barrier();
}

HAL_CASE("45079.T10.xccl_comm_init_rank.fault.rank_dies", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io(), E::xccl_all_reduce}, so_many_ranks({3}), over("at", {"before_init"}), cls::long_)
(Test& t) {
    const std::string id = t.unique_id();
    if (t.rank() == 2) {
        t.check(true, "dies before it comes");
        t.die();
    }
    {
        const Impatient other(t);
        hal_comm comm = nullptr;
        expect_gave_up(t, init(other.backend.api(), t.dev, 3, id, t.rank(), &comm), "a rank that died");
        t.ok(other.backend.finalize());
    }
    expect_device_works(t);
    expect_survivors_work(t, {0, 1});
}

HAL_CASE("45079.T10.xccl_comm_init_rank.fault.rank_late", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io()}, so_many_ranks({2, 3}), cls::medium)
(Test& t) {
    const std::string id = t.unique_id();
    if (t.rank() == 0) {  // who made the id, and in many back ends waits for the others
        std::this_thread::sleep_for(late);
    }
    hal_comm comm = nullptr;
    if (t.ok(init(t.api, t.dev, t.ranks(), id, t.rank(), &comm), "with a rank that is late")) {
        t.ok(t.api.xccl_destroy_comm(comm));
    }
}

// An id that nobody made: refused, or nobody is found.
HAL_CASE("45079.T10.xccl_comm_init_rank.fault.id_garbage", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io()}, cls::long_)
(Test& t) {
    const Impatient other(t);
    const size_t size = t.unique_id().size();
    for (const uint64_t kind : {0, 1, 2}) {
        std::string id(size, kind == 0 ? '\0' : '\xFF');
        if (kind == 2) {
            Pattern(3, 4).write(id.data(), id.size());
        }
        hal_comm comm = nullptr;
        const hal_status got = init(other.backend.api(), 0, 2, id, 1, &comm);
        t.check(got < 0 && comm == nullptr, "an error and no communicator");
    }
    t.ok(other.backend.finalize());
    expect_device_works(t);
}

// Of a process that is gone.
HAL_CASE("45079.T10.xccl_comm_init_rank.fault.wrong_id", clauses{"45079/T10.3", "hal/9"}, authority::A,
         needs{comm_io()}, so_many_ranks({2}), cls::long_)
(Test& t) {
    const std::string id = t.unique_id(1);
    if (t.rank() == 1) {
        t.check(true, "its maker is gone");
        t.die();
    }
    t.rank_barrier();
    const Impatient other(t);
    hal_comm comm = nullptr;
    const hal_status got = init(other.backend.api(), t.dev, 2, id, 0, &comm);
    t.check(got < 0 && comm == nullptr, "an error and no communicator");
    t.ok(other.backend.finalize());
    expect_device_works(t);
}

// ---- In a collective ----

HAL_CASE("45079.T10.xccl_all_reduce.fault.rank_dies", clauses{"45079/T10.5", "hal/9"}, authority::A,
         needs{comm_io(), E::xccl_all_reduce, E::xccl_set_timeout}, so_many_ranks({2, 3}),
         over("at", {"after_init", "in_collective"}), cls::medium)
(Test& t) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    Shape shape;
    shape.count = 500'000;
    Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());
    const int victim = t.ranks() - 1;
    std::vector<int> survivors;
    for (int rank = 0; rank < victim; ++rank) {
        survivors.push_back(rank);
    }
    if (t.rank() == victim && t.param("at") == "in_collective") {
        // It dies inside, with its part done or not.
        t.ok(round.call(comm, stream), "the call");
        t.die();
    }
    if (t.rank() == victim) {
        t.check(comm != nullptr, "dies with a communicator");
        t.die();
    }
    if (t.param("at") == "in_collective") {
        t.rank_barrier();  // it is dead: else all might be done before
    }
    expect_death_noticed(t, round.call(comm, stream), comm, stream, "a collective with the dead");
    expect_device_works(t);
    if (!survivors.empty()) {
        expect_survivors_work(t, survivors);
    }
}

#define TOLERATES(tail, what)                                                                        \
    HAL_CASE("45079.T10.xccl_all_reduce.fault." tail, clauses{"45079/T10.5", "hal/9"}, authority::A, \
             needs{comm_io(), E::xccl_all_reduce}, so_many_ranks({2, 3}), cls::medium)               \
    (Test & t) {                                                                                     \
        const hal_comm comm = t.communicator();                                                      \
        const hal_stream stream = t.stream(t.dev);                                                   \
        Shape shape;                                                                                 \
        shape.count = 100'000;                                                                       \
        Round round(t, collective_of("xccl_all_reduce"), shape, t.ranks(), t.rank());                \
        if (t.rank() == 0) {                                                                         \
            what;                                                                                    \
        }                                                                                            \
        t.ok(round.call(comm, stream), "the call");                                                  \
        t.ok(wait_for(t, stream), "a collective with a rank that only takes its time");              \
        round.expect();                                                                              \
    }
TOLERATES("rank_late", std::this_thread::sleep_for(late))
TOLERATES("rank_stopped", t.stop_process(std::chrono::milliseconds(1'000)))

HAL_CASE("45079.T10.xccl_barrier.fault.rank_dies", clauses{"45079/T10.17", "hal/9"}, authority::A,
         needs{comm_io(), E::xccl_barrier, E::xccl_set_timeout}, so_many_ranks({2, 4}), cls::medium)
(Test& t) {
    const hal_comm comm = t.communicator();
    const hal_stream stream = t.stream(t.dev);
    if (t.rank() == 0) {
        t.check(comm != nullptr, "dies with a communicator");
        t.die();
    }
    expect_death_noticed(t, t.api.xccl_barrier(comm, stream), comm, stream, "a barrier with the dead");
    expect_device_works(t);
}

}  // namespace
}  // namespace hal::conformance

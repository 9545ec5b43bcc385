// Ranks of a host, as threads: set-up, and that one that is gone is noticed.
#include "host.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "test_arena.hpp"
#include "unique_id.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t limit_ns = 20'000'000'000;

struct Member {
    Presence presence{loopback()};
    TestArena arena;
};

TEST_CASE("a rank that is gone is noticed long before the time limit") {
    const Member first;
    const Member second;
    const std::vector<Host::Member> members{{first.presence.introduction, 0}, {second.presence.introduction, 1}};
    const Secret secret = random_secret();
    const Deadline deadline = Deadline::after(limit_ns);
    std::thread other(
        [&] { const Host host(members, 1, second.presence.local_listener, secret, second.arena.get(), deadline); });
    Host host(members, 0, first.presence.local_listener, secret, first.arena.get(), deadline);
    host.set_timeout(limit_ns);
    other.join();  // it has left
    hal_status status = HAL_OK;
    try {
        host.wait(1, host.step(1), setup_steps + 1);
    } catch (const sdk::Error& error) {
        status = error.status();
    }
    CHECK(status == HAL_ERROR_REMOTE);
    CHECK(host.failure(nullptr) == HAL_ERROR_REMOTE);
}

}  // namespace
}  // namespace hal::xccl

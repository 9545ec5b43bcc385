// Two hosts of one rank each, in one process: what one knows the other is told.
#include "alarm.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "test_arena.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t limit_ns = 20'000'000'000;

// A rank that leads its host; a Presence listens for no other hosts on loopback.
struct Rank {
    Rank() {
        presence.introduction.network = loopback();
        listener = listen_tcp(loopback(), &presence.introduction.network.port);
    }
    ~Rank() {
        alarm.reset();
        host.reset();
    }
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    void join(const std::vector<Introduction>& ranks, int32_t rank, const Secret& secret) {
        const Deadline deadline = Deadline::after(limit_ns);
        host = std::make_unique<Host>(std::vector<Host::Member>{{presence.introduction, rank}}, 0,
                                      presence.local_listener, secret, arena.get(), deadline);
        alarm = std::make_unique<Alarm>(ranks, rank, listener, secret, deadline);
        alarm->watch(*host, [] {});
    }
    // HAL_OK if it does not fail for long.
    [[nodiscard]] hal_status failure() const {
        for (const Deadline end = Deadline::after(limit_ns); !host->failed() && !end.passed();) {
            alarm->await_reason();
        }
        return host->failure(nullptr);
    }

    Presence presence{loopback()};
    TestArena arena;
    File listener;
    std::unique_ptr<Host> host;
    std::unique_ptr<Alarm> alarm;
};

struct Pair {
    Pair() {
        const std::vector<Introduction> ranks{first.presence.introduction, second.presence.introduction};
        const Secret secret = random_secret();
        std::thread other([&] { second.join(ranks, 1, secret); });
        first.join(ranks, 0, secret);
        other.join();
    }
    Rank first, second;
};

Activity operation(uint64_t number, uint64_t count) {
    return {.number = number, .call = {.kind = Kind::all_reduce, .dtype = HAL_F32, .count = count}};
}

TEST_CASE("ranks that wait for different calls are told that they differ") {
    Pair ranks;
    ranks.first.alarm->begin({operation(7, 100)});
    ranks.second.alarm->begin({operation(7, 101)});
    CHECK(ranks.first.failure() == HAL_ERROR_INVALID_ARGUMENT);
    CHECK(ranks.second.failure() == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("a failure keeps its reason and its rank on the way") {
    Pair ranks;
    const bool from_first = GENERATE(true, false);
    Rank& failing = from_first ? ranks.first : ranks.second;
    Rank& other = from_first ? ranks.second : ranks.first;
    failing.host->fail(HAL_ERROR_ABORTED, 0);
    CHECK(other.failure() == HAL_ERROR_ABORTED);
    int32_t name = -1;
    static_cast<void>(other.host->failure(nullptr, &name));
    CHECK(name == (from_first ? 0 : 1));
}

TEST_CASE("who says goodbye has not died, and the same call is no difference") {
    Pair ranks;
    ranks.first.alarm->begin({operation(1, 100)});
    ranks.second.alarm->begin({operation(1, 100)});
    ranks.second.alarm.reset();
    ranks.first.alarm->await_reason();
    CHECK_FALSE(ranks.first.host->failed());
}

}  // namespace
}  // namespace hal::xccl

// Timelines: who waits is woken at his position, neither before nor never; errors belong to positions.
#include "timeline.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace hal::cpu {
namespace {

TEST_CASE("a wait ends at its position, with the deadline, or at once") {
    Waiting waiting;
    Timeline timeline(waiting, 10);
    CHECK(timeline.wait_until(10, Deadline::after(0), waiting));
    CHECK_FALSE(timeline.wait_until(11, Deadline::after(0), waiting));
    const uint64_t before = now_ns();
    CHECK_FALSE(timeline.wait_until(11, Deadline::after(3'000'000), waiting));
    CHECK(now_ns() - before >= 3'000'000);
    timeline.complete(11);
    CHECK(timeline.wait_until(11, Deadline::never(), waiting));
}

TEST_CASE("deadlines do not wrap around") {
    CHECK(Deadline::after(UINT64_MAX).is_never());
    CHECK(Deadline::after(UINT64_MAX - 1).is_never());
    CHECK_FALSE(Deadline::after(uint64_t{1} << 62).passed());
    CHECK(Deadline::after(0).passed());
}

TEST_CASE("the outcome of a position is the failure at or before it") {
    Waiting waiting;
    Timeline timeline(waiting, 0);
    timeline.complete(1);
    CHECK_FALSE(timeline.failed());
    CHECK(timeline.outcome(1) == HAL_OK);
    timeline.fail(2, HAL_ERROR_KERNEL_FAULT, "broken");
    timeline.complete(2);
    timeline.complete(3);
    CHECK(timeline.failed());
    CHECK(timeline.failure_text() == "broken");
    CHECK(timeline.outcome(1) == HAL_OK);
    CHECK(timeline.outcome(2) == HAL_ERROR_KERNEL_FAULT);
    CHECK(timeline.outcome(3) == HAL_ERROR_KERNEL_FAULT);
}

// Many sleepers at different positions, some with deadlines, against a worker that never fences: a lost wake-up hangs
// here.
TEST_CASE("no sleeper is forgotten") {
    Waiting waiting(GENERATE(true, false));
    constexpr uint64_t last = 3'000;
    constexpr uint64_t sleepers = 6;
    TimelineRef timeline(std::make_unique<Timeline>(waiting, 0));
    std::atomic<uint64_t> early{0};
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < sleepers; ++t) {
        threads.emplace_back([&, t, timeline] {
            for (uint64_t position = 1 + t; position <= last; position += 1 + t) {
                while (!timeline->wait_until(position, t % 2 == 0 ? Deadline::never() : Deadline::after(100'000),
                                             waiting)) {
                }
                early += timeline->done() < position;
            }
        });
    }
    for (uint64_t position = 1; position <= last; ++position) {
        timeline->complete(position);
        if (position % 16 == 0) {
            std::this_thread::yield();
        }
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(early == 0);
}

TEST_CASE("references keep a timeline alive and points compare with it") {
    Waiting waiting;
    Point none;
    CHECK(none.reached());
    CHECK(none.outcome() == HAL_OK);
    Point point;
    {
        TimelineRef timeline(std::make_unique<Timeline>(waiting, 0));
        point = {timeline, 1};
        CHECK(point.timeline == timeline);
        timeline->fail(1, HAL_ERROR_CANCELLED, "text");
        timeline->complete(1);
    }
    CHECK(point.reached());
    CHECK(point.outcome() == HAL_ERROR_CANCELLED);
    CHECK(point.timeline->failure_text() == "text");
}

}  // namespace
}  // namespace hal::cpu

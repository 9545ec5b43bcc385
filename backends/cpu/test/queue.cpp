// The queue of a stream: order, where operations live, when they die, memory.
#include "queue.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace hal::cpu {
namespace {

// Takes everything that is there; returns how many.
size_t run_all(TaskQueue& queue, hal_status status = HAL_OK) {
    size_t count = 0;
    for (Task* task = queue.front(); task != nullptr; task = queue.front(), ++count) {
        static_cast<void>(task->invoke(task->storage, status));
        const uint64_t position = queue.pop();
        CHECK(position == queue.consumed());
    }
    return count;
}

TEST_CASE("operations run in order, through many chunks and again through reused ones") {
    TaskQueue queue;
    std::vector<int> seen;
    int next = 0;
    for (const int burst : {1, 62, 63, 64, 10'000, 3, 200}) {
        for (int i = 0; i < burst; ++i) {
            const uint64_t position = queue.push([&seen, value = next] {
                seen.push_back(value);
                return HAL_OK;
            });
            CHECK(position == static_cast<uint64_t>(++next));
        }
        CHECK(run_all(queue) == static_cast<size_t>(burst));
        CHECK(queue.front() == nullptr);
    }
    REQUIRE(seen.size() == static_cast<size_t>(next));
    for (int i = 0; i < next; ++i) {
        REQUIRE(seen[static_cast<size_t>(i)] == i);
    }
}

TEST_CASE("every operation is destroyed once, run or skipped, in place or on the heap") {
    const auto token = std::make_shared<int>(0);
    for (const hal_status status : {HAL_OK, HAL_ERROR_KERNEL_FAULT}) {
        TaskQueue queue;
        queue.push([token] {
            ++*token;
            return HAL_OK;
        });
        queue.push([token, large = std::array<char, 100>{}] {
            ++*token;
            return static_cast<hal_status>(large[99]);
        });
        hal_status told = HAL_NOT_READY;
        queue.push([token, &told](hal_status stream_status) {
            told = stream_status;
            return HAL_OK;
        });
        CHECK(token.use_count() == 4);
        CHECK(run_all(queue, status) == 3);
        CHECK(token.use_count() == 1);
        CHECK(told == status);
    }
    CHECK(*token == 2);  // skipped ones were not called
}

TEST_CASE("an operation that throws is destroyed too, and leaves the queue in order") {
    TaskQueue queue;
    const auto token = std::make_shared<int>(0);
    queue.push([token]() -> hal_status { throw 1; });
    queue.push([token, large = std::array<char, 100>{}]() -> hal_status { throw static_cast<int>(large[0]); });
    for (int i = 0; i < 2; ++i) {
        Task* task = queue.front();
        REQUIRE(task != nullptr);
        CHECK_THROWS_AS(task->invoke(task->storage, HAL_OK), int);
        queue.pop();
    }
    CHECK(token.use_count() == 1);
    CHECK(queue.front() == nullptr);
}

TEST_CASE("positions go on after the memory was given back") {
    TaskQueue queue;
    for (int i = 0; i < 100; ++i) {
        queue.push([] { return HAL_OK; });
    }
    CHECK(run_all(queue) == 100);
    queue.release();
    CHECK(queue.front() == nullptr);
    CHECK(queue.push([] { return HAL_OK; }) == 101);
    CHECK(run_all(queue) == 1);
}

TEST_CASE("a consumer sees what producers hand over, each producer's in order") {
    constexpr int producers = 4;
    constexpr int each = 20'000;
    TaskQueue queue;
    std::mutex turn;
    std::array<int, producers> last{};  // written by the consumer alone
    std::vector<std::thread> threads;
    for (int p = 0; p < producers; ++p) {
        threads.emplace_back([&, p] {
            for (int i = 1; i <= each; ++i) {
                const std::lock_guard lock(turn);
                queue.push([&last, p, i] {
                    const bool next = last[static_cast<size_t>(p)] == i - 1;
                    last[static_cast<size_t>(p)] = i;
                    return next ? HAL_OK : HAL_ERROR_INTERNAL;
                });
            }
        });
    }
    int wrong = 0;
    for (int taken = 0; taken < producers * each;) {
        if (Task* task = queue.front(); task != nullptr) {
            wrong += task->invoke(task->storage, HAL_OK) != HAL_OK;
            queue.pop();
            ++taken;
        } else {
            std::this_thread::yield();
        }
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    CHECK(queue.front() == nullptr);
}

}  // namespace
}  // namespace hal::cpu

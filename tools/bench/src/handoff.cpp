#include "handoff.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace hal::bench {
namespace {

void futex_wait(std::atomic<uint32_t>& word, uint32_t seen) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void futex_wake(std::atomic<uint32_t>& word) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void await_change(std::atomic<uint32_t>& word, uint32_t seen, bool park) {
    while (word.load(std::memory_order_acquire) == seen) {
        if (park) {
            futex_wait(word, seen);
        }
    }
}

void announce(std::atomic<uint32_t>& word, bool wake) {
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    if (wake) {
        futex_wake(word);
    }
}

}  // namespace

HandOff::HandOff(bool worker_parks, bool caller_parks)
    : worker_parks_(worker_parks), caller_parks_(caller_parks), worker_([this] { work(); }) {}

HandOff::~HandOff() {
    stop_.store(true, std::memory_order_relaxed);
    announce(posted_, worker_parks_);
    worker_.join();
}

void HandOff::round_trip() {
    const uint32_t seen = done_.load(std::memory_order_relaxed);
    announce(posted_, worker_parks_);
    await_change(done_, seen, caller_parks_);
}

void HandOff::work() {
    for (uint32_t seen = 0;; ++seen) {
        await_change(posted_, seen, worker_parks_);
        if (stop_.load(std::memory_order_relaxed)) {
            return;
        }
        announce(done_, caller_parks_);
    }
}

Ring::Ring() : worker_([this] { work(); }) {}

Ring::~Ring() {
    stop_.store(true, std::memory_order_relaxed);
    worker_.join();
}

void Ring::push(Function function, void* argument) {
    while (!queue_.push(Task{function, argument})) {
    }
    ++pushed_;
}

void Ring::wait_empty() const {
    while (run_.load(std::memory_order_acquire) != pushed_) {
    }
}

void Ring::work() {
    uint64_t run = 0;
    while (!stop_.load(std::memory_order_relaxed)) {
        run += queue_.consume_all([](const Task& task) { task.function(task.argument); });
        run_.store(run, std::memory_order_release);
    }
}

}  // namespace hal::bench

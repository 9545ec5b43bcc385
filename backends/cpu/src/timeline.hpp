// The progress of one stream: how many of its operations are done, and which failed. Events keep a reference to it, so
// it outlives its stream.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "hal/types.h"
#include "waiting.hpp"

namespace hal::cpu {

// A position is the number of operations of the stream up to a point; the operation with number n (from 0) is complete
// when position n + 1 is reached. Positions of a stream only grow, over resets too.
class Timeline {
  public:
    Timeline(const Waiting& waiting, uint64_t start) noexcept : done_(start), waiting_(&waiting) {}

    // ---- The worker ----

    // No fence an operation: wait_until's heavy fence pays for it.
    void complete(uint64_t position) noexcept {
        done_.store(position, std::memory_order_release);
        waiting_->light_fence();
        if (wake_at_.load(std::memory_order_relaxed) <= position) [[unlikely]] {
            wake();
        }
    }

    // Before complete(position) of the operation that failed; once.
    void fail(uint64_t position, hal_status status, std::string text) noexcept;

    // ---- Any thread ----

    [[nodiscard]] uint64_t done() const noexcept { return done_.load(std::memory_order_acquire); }
    [[nodiscard]] bool reached(uint64_t position) const noexcept { return done() >= position; }
    [[nodiscard]] bool failed() const noexcept { return failed_at_.load(std::memory_order_acquire) != no_failure; }

    // Of a position that was reached: HAL_OK, or the error of the operation that failed at or before it.
    [[nodiscard]] hal_status outcome(uint64_t position) const noexcept {
        return failed_at_.load(std::memory_order_acquire) <= position ? status_ : HAL_OK;
    }
    // What failed, once failed().
    [[nodiscard]] const std::string& failure_text() const noexcept { return text_; }

    // False if the deadline passed first.
    bool wait_until(uint64_t position, Deadline deadline, Waiting& waiting) noexcept;

  private:
    friend class TimelineRef;
    static constexpr uint64_t no_failure = UINT64_MAX;
    static constexpr uint64_t nobody = UINT64_MAX;

    void wake() noexcept;

    // Written once an operation: what waiters poll.
    alignas(64) std::atomic<uint64_t> done_;
    std::atomic<uint64_t> wake_at_{nobody};  // lowest position that a sleeper waits for
    std::atomic<uint32_t> wake_count_{0};    // futex of the sleepers

    // Read by every enqueue, written at most once.
    alignas(64) std::atomic<uint64_t> failed_at_{no_failure};
    const Waiting* waiting_;
    hal_status status_ = HAL_OK;
    std::string text_;

    alignas(64) std::atomic<uint32_t> references_{0};
};

class TimelineRef {
  public:
    TimelineRef() noexcept = default;
    explicit TimelineRef(std::unique_ptr<Timeline> timeline) noexcept : timeline_(timeline.release()) { add(); }
    TimelineRef(const TimelineRef& other) noexcept : timeline_(other.timeline_) { add(); }
    TimelineRef(TimelineRef&& other) noexcept : timeline_(std::exchange(other.timeline_, nullptr)) {}
    TimelineRef& operator=(const TimelineRef& other) noexcept {
        if (timeline_ != other.timeline_) {
            TimelineRef(other).swap(*this);
        }
        return *this;
    }
    TimelineRef& operator=(TimelineRef&& other) noexcept {
        TimelineRef(std::move(other)).swap(*this);
        return *this;
    }
    ~TimelineRef() {
        if (timeline_ != nullptr && timeline_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete timeline_;
        }
    }

    void swap(TimelineRef& other) noexcept { std::swap(timeline_, other.timeline_); }
    [[nodiscard]] Timeline* get() const noexcept { return timeline_; }
    Timeline* operator->() const noexcept { return timeline_; }
    explicit operator bool() const noexcept { return timeline_ != nullptr; }
    friend bool operator==(const TimelineRef& a, const TimelineRef& b) noexcept { return a.timeline_ == b.timeline_; }

  private:
    void add() noexcept {
        if (timeline_ != nullptr) {
            timeline_->references_.fetch_add(1, std::memory_order_relaxed);
        }
    }
    Timeline* timeline_ = nullptr;
};

// A place in a stream's order. Without a timeline it is the place before everything: always reached.
struct Point {
    TimelineRef timeline;
    uint64_t position = 0;

    [[nodiscard]] bool reached() const noexcept { return !timeline || timeline->reached(position); }
    [[nodiscard]] hal_status outcome() const noexcept { return timeline ? timeline->outcome(position) : HAL_OK; }
};

}  // namespace hal::cpu

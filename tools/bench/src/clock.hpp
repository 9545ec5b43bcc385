// Time, and loops long enough to be timed.
#pragma once

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "statistics.hpp"

namespace hal::bench {

[[nodiscard]] inline int64_t clock_ns(clockid_t clock = CLOCK_MONOTONIC) {
    timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1'000'000'000) + now.tv_nsec;
}

// Nanoseconds of one run of f.
template <class F>
[[nodiscard]] int64_t timed(F&& f) {
    const int64_t start = clock_ns();
    std::forward<F>(f)();
    return clock_ns() - start;
}

// Calls loop(n), which does a thing n times. One sample takes about batch_s; the first call also finds n and warms up.
// A sample is the median of slices, so that a slice in which the thread lost its core does not count.
template <class Loop>
class PerCall {
  public:
    PerCall(double batch_s, Loop loop) : slice_ns_(batch_s * 1e9 / slices), loop_(std::move(loop)) {}

    // Nanoseconds a call.
    double operator()() {
        if (count_ == 0) {
            calibrate();
        }
        std::array<double, slices> figures;
        size_t taken = 0;
        // A call longer than a slice is not repeated past the time of the batch.
        for (double left_ns = slice_ns_ * slices; taken == 0 || (taken < slices && left_ns > 0); ++taken) {
            const auto took = static_cast<double>(timed([&] { loop_(count_); }));
            figures[taken] = took / static_cast<double>(count_);
            left_ns -= std::max(took, slice_ns_ / 2);
        }
        return median(std::span(figures).first(taken));
    }

  private:
    static constexpr size_t slices = 21;

    void calibrate() {
        uint64_t count = 1;
        for (;;) {
            const auto took = static_cast<double>(std::max<int64_t>(timed([&] { loop_(count); }), 1));
            if (took >= slice_ns_ / 4) {
                count_ = std::max<uint64_t>(static_cast<uint64_t>(static_cast<double>(count) * slice_ns_ / took), 1);
                return;
            }
            count *= 4;
        }
    }

    double slice_ns_;
    uint64_t count_ = 0;
    Loop loop_;
};

}  // namespace hal::bench

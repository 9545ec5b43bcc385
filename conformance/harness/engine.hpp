// Decides which cases apply, runs one, judges it. Knows nothing of printing or of the command line.
#pragma once

#include <functional>

#include "test.hpp"

namespace hal::conformance {

// Before the first call of a case: a verdict if it does not apply, else nothing.
[[nodiscard]] std::optional<Outcome> not_applicable(const Instance& instance, const Facts& facts);

// Runs a case that applies, against an instance of the plug-in of its own. An inconclusive run is repeated twice.
[[nodiscard]] Outcome run_case(const Instance& instance, const Target& target, const Facts& facts, uint64_t seed,
                               const Limits& limits);

// Calls `expired` on a thread of its own when a case takes longer than the limit.
class Watchdog {
  public:
    explicit Watchdog(std::function<void()> expired);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    void start(std::chrono::milliseconds limit);
    void stop();

  private:
    void watch();

    std::function<void()> expired_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<std::chrono::steady_clock::time_point> deadline_;
    bool ended_ = false;
    std::thread thread_;
};

}  // namespace hal::conformance

// Is the machine fit to be measured on now? Others' work, stolen time and slow cache-line exchange spoil a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hal::bench {

// Above either of these a run is contaminated.
inline constexpr double max_round_trip_ns = 300;
inline constexpr double max_foreign_cpu = 0.10;  // of one core, by others

struct ProbeResult {
    std::optional<double> round_trip_ns;  // one cache line between two cores; absent with a single core
    double foreign_cpu = 0;               // cores kept busy by others since the last probe, stolen time included
};

// Why a measurement framed by these probes cannot be trusted; empty if it can.
[[nodiscard]] std::string contamination(const ProbeResult& before, const ProbeResult& after);

class Probe {
  public:
    Probe();

    // Exchanges a cache line for a few milliseconds and reads the load since the previous sample.
    ProbeResult sample();

    // Samples over an idle pause, until one is clean or the time is over. Returns the last one.
    ProbeResult wait_quiet(double seconds);

  private:
    struct Times {
        int64_t wall_ns;
        int64_t machine_busy_ns;  // all processes
        int64_t own_ns;           // this process and all that it started
    };
    static Times read();

    Times last_;
};

}  // namespace hal::bench

// Time of an operation of the plug-in, for the report: curves to compare, never a verdict (conformance.md section 9).
// The one thing that is checked is that the figure is one.
#pragma once

#include "harness/test.hpp"

namespace hal::conformance {

// Does so many operations and waits until they are complete.
using Batch = std::function<void(uint64_t operations)>;

class Samples {
  public:
    explicit Samples(std::vector<double> ns_per_operation);

    [[nodiscard]] double quantile(double part) const;  // 0.5 is the median
    [[nodiscard]] double mad() const;                  // median absolute deviation
    [[nodiscard]] size_t count() const { return sorted_.size(); }

  private:
    std::vector<double> sorted_;
};

// Batches are doubled until one is long against the clock's step; warmed up until three in a row agree within 5 %; then
// at least 30 and half a second of them are taken.
[[nodiscard]] Samples sample(const Batch& batch);

// Samples, and writes down median, p5, p95, p99, MAD, minimum and count; with bytes per operation GB/s (10^9) too.
void measure(Test& t, const Batch& batch, uint64_t bytes_per_operation = 0, Where where = Where::here());

}  // namespace hal::conformance

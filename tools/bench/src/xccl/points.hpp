// The collectives among the measured rows, and the table that nccl-tests prints of such.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"
#include "xccl/collective.hpp"

namespace hal::bench::xccl {

struct Point {
    Collective collective;
    std::string library;
    double seconds = 0;  // of one call

    // GB/s of the buffer, and of the slowest link.
    [[nodiscard]] double buffer_rate() const;
    [[nodiscard]] double bus_rate() const;
};

// Libraries of the points: ours, and ours with a wait for each call. A peer is called what its row calls it.
inline constexpr const char* ours = "HAL";
inline constexpr const char* ours_waiting = "HAL, waiting";

// Ours and the peers', each once, ordered by rank count, operation and size.
[[nodiscard]] std::vector<Point> points(const std::vector<Row>& rows);

// Empty if no collective was measured.
[[nodiscard]] std::string to_collectives(const std::vector<Row>& rows);

}  // namespace hal::bench::xccl

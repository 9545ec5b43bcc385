// Figures of repeated measurements: median, best and ratios, free of any clock.
#pragma once

#include <span>
#include <vector>

namespace hal::bench {

enum class Better { lower, higher };

// The middle value, or the mean of the two middle ones. The samples must not be empty.
[[nodiscard]] double median(std::span<const double> samples);

// The smallest or the largest value. The samples must not be empty.
[[nodiscard]] double best(std::span<const double> samples, Better better);

// ours[i] / peer[i]: both were taken next to each other, so a slow phase of the machine cancels. Throws
// std::invalid_argument unless both have the same length and no peer value is 0.
[[nodiscard]] std::vector<double> paired_ratios(std::span<const double> ours, std::span<const double> peer);

// Half of the distance between the quartiles over the median: how restless the samples are. 0 for a median of 0.
[[nodiscard]] double relative_spread(std::span<const double> samples);

}  // namespace hal::bench

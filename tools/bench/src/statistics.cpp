#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace hal::bench {
namespace {

std::vector<double> sorted(std::span<const double> samples) {
    if (samples.empty()) {
        throw std::invalid_argument("statistics of no samples");
    }
    std::vector<double> copy(samples.begin(), samples.end());
    std::sort(copy.begin(), copy.end());
    return copy;
}

// Linear interpolation between the two nearest ranks.
double quantile(const std::vector<double>& ordered, double fraction) {
    const double place = fraction * static_cast<double>(ordered.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, ordered.size() - 1);
    return std::lerp(ordered[below], ordered[above], place - static_cast<double>(below));
}

}  // namespace

double median(std::span<const double> samples) {
    return quantile(sorted(samples), 0.5);
}

double best(std::span<const double> samples, Better better) {
    const auto ordered = sorted(samples);
    return better == Better::lower ? ordered.front() : ordered.back();
}

std::vector<double> paired_ratios(std::span<const double> ours, std::span<const double> peer) {
    if (ours.size() != peer.size()) {
        throw std::invalid_argument("paired ratios need as many samples of the peer as of ours");
    }
    std::vector<double> ratios;
    ratios.reserve(ours.size());
    for (size_t i = 0; i < ours.size(); ++i) {
        if (peer[i] == 0) {
            throw std::invalid_argument("the peer's figure is 0");
        }
        ratios.push_back(ours[i] / peer[i]);
    }
    return ratios;
}

double relative_spread(std::span<const double> samples) {
    const auto ordered = sorted(samples);
    const double middle = quantile(ordered, 0.5);
    if (middle == 0) {
        return 0;
    }
    return (quantile(ordered, 0.75) - quantile(ordered, 0.25)) / 2 / std::abs(middle);
}

}  // namespace hal::bench

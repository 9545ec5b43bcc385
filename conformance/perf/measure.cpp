#include "measure.hpp"

#include <algorithm>
#include <cmath>

namespace hal::conformance {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double shortest_batch_ns = 50'000;  // some thousand steps of the clock
constexpr int warm_up_batches = 20;           // at most
constexpr size_t least_samples = 30;
constexpr double least_total_ns = 5e8;

double time_of(const Batch& batch, uint64_t operations) {
    const auto begin = Clock::now();
    batch(operations);
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// The best of three: the first one pays for what is cold.
double best_time_of(const Batch& batch, uint64_t operations) {
    return std::min({time_of(batch, operations), time_of(batch, operations), time_of(batch, operations)});
}

uint64_t batch_size(const Batch& batch) {
    uint64_t operations = 1;
    while (best_time_of(batch, operations) < shortest_batch_ns && operations < (1U << 20U)) {
        operations *= 2;
    }
    return operations;
}

void warm_up(const Batch& batch, uint64_t operations) {
    std::array<double, 3> last{};
    for (int i = 0; i < warm_up_batches; ++i) {
        last[static_cast<size_t>(i) % last.size()] = time_of(batch, operations);
        const auto [low, high] = std::minmax_element(last.begin(), last.end());
        if (i >= 2 && *high <= 1.05 * *low) {
            return;
        }
    }
}

}  // namespace

Samples::Samples(std::vector<double> ns_per_operation) : sorted_(std::move(ns_per_operation)) {
    std::sort(sorted_.begin(), sorted_.end());
}

double Samples::quantile(double part) const {
    const double place = part * static_cast<double>(sorted_.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted_.size() - 1);
    return std::lerp(sorted_[below], sorted_[above], place - static_cast<double>(below));
}

double Samples::mad() const {
    const double median = quantile(0.5);
    std::vector<double> distances;
    for (const double one : sorted_) {
        distances.push_back(std::abs(one - median));
    }
    return Samples(std::move(distances)).quantile(0.5);
}

Samples sample(const Batch& batch) {
    const uint64_t operations = batch_size(batch);
    warm_up(batch, operations);
    std::vector<double> ns;
    for (double total = 0; ns.size() < least_samples || total < least_total_ns;) {
        const double took = time_of(batch, operations);
        total += took;
        ns.push_back(took / static_cast<double>(operations));
    }
    return Samples(std::move(ns));
}

void measure(Test& t, const Batch& batch, uint64_t bytes_per_operation, Where where) {
    const Samples samples = sample(batch);
    const double median = samples.quantile(0.5);
    t.check(median > 0 && std::isfinite(median), "the time is a positive number", where);
    t.metric("median", median, "ns");
    t.metric("p5", samples.quantile(0.05), "ns");
    t.metric("p95", samples.quantile(0.95), "ns");
    t.metric("p99", samples.quantile(0.99), "ns");
    t.metric("mad", samples.mad(), "ns");
    t.metric("min", samples.quantile(0), "ns");
    t.metric("samples", static_cast<double>(samples.count()), "1");
    if (bytes_per_operation != 0) {
        t.metric("rate", static_cast<double>(bytes_per_operation) / median, "GB/s");
    }
}

}  // namespace hal::conformance

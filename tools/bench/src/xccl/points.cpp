#include "xccl/points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace hal::bench::xccl {
namespace {

double seconds(const Benchmark& benchmark, const Collective& collective, double figure) {
    return benchmark.unit == "us" ? figure / 1e6
                                  : static_cast<double>(collective.bytes) * collective.bus_factor() / figure / 1e9;
}

// Ours is measured again beside every peer; the first time counts.
void add(std::vector<Point>& list, Point point) {
    const bool known = std::any_of(list.begin(), list.end(), [&](const Point& other) {
        return other.collective == point.collective && other.library == point.library;
    });
    if (!known) {
        list.push_back(std::move(point));
    }
}

}  // namespace

double Point::buffer_rate() const {
    return static_cast<double>(collective.bytes) / seconds / 1e9;
}

double Point::bus_rate() const {
    return buffer_rate() * collective.bus_factor();
}

std::vector<Point> points(const std::vector<Row>& rows) {
    std::vector<Point> list;
    for (const auto& row : rows) {
        const auto named = collective_of_row(row.benchmark.name);
        if (!named || row.ours.samples.empty()) {
            continue;
        }
        const Collective& collective = named->collective;
        add(list, {collective, named->special == "sync" ? ours_waiting : ours,
                   seconds(row.benchmark, collective, row.ours.median)});
        if (row.peer) {
            add(list, {collective, row.benchmark.peer, seconds(row.benchmark, collective, row.peer->median)});
        }
    }
    std::stable_sort(list.begin(), list.end(), [](const Point& a, const Point& b) {
        const auto key = [](const Collective& c) { return std::tuple(c.hosts, c.ranks, c.operation, c.bytes); };
        return key(a.collective) < key(b.collective);
    });
    return list;
}

std::string to_collectives(const std::vector<Row>& rows) {
    const auto list = points(rows);
    if (list.empty()) {
        return {};
    }
    std::string text = fmt::format(
        "collectives of float, sum, not in place; time of the slowest rank\n{:<15} {:>5} {:>5} {:<20} {:>9} {:>9} "
        "{:>11} {:>11} {:>11} {:>6}\n",
        "operation", "ranks", "hosts", "library", "size B", "count", "time us", "algbw GB/s", "busbw GB/s", "wrong");
    for (const auto& point : list) {
        // A row with a wrong element has no figures.
        text += fmt::format("{:<15} {:>5} {:>5} {:<20} {:>9} {:>9} {:>11.2f} {:>11.2f} {:>11.2f} {:>6}\n",
                            name(point.collective.operation), point.collective.ranks, point.collective.hosts,
                            point.library, point.collective.bytes, point.collective.call_count(), point.seconds * 1e6,
                            point.buffer_rate(), point.bus_rate(), 0);
    }
    return text;
}

}  // namespace hal::bench::xccl

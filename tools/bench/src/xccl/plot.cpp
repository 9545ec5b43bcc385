#include "xccl/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "xccl/points.hpp"

namespace hal::bench::xccl {
namespace {

struct Curve {
    std::string library;
    std::vector<Point> points;
};

std::vector<Curve> curves(const std::vector<Row>& rows) {
    std::vector<Curve> list;
    for (const auto& point : points(rows)) {
        if (point.collective.operation != Operation::all_reduce || point.collective.ranks != 2 ||
            point.collective.hosts != 1 || point.library == ours_waiting) {
            continue;
        }
        auto curve =
            std::find_if(list.begin(), list.end(), [&](const Curve& known) { return known.library == point.library; });
        if (curve == list.end()) {
            curve = list.insert(list.end(), {point.library, {}});
        }
        curve->points.push_back(point);
    }
    if (list.empty()) {
        throw std::runtime_error("nothing to plot: no all-reduce of two ranks was measured");
    }
    return list;
}

// Both axes are logarithmic: sizes from 8 B to 64 MiB with a line every 8-fold, rates from 10 kB/s to 100 GB/s.
constexpr double left = 80;
constexpr double top = 40;
constexpr double width = 640;
constexpr double height = 360;
constexpr int first_power = 3;
constexpr int last_power = 26;
constexpr int first_decade = -5;
constexpr int last_decade = 2;

double across(double bytes) {
    return left + width * (std::log2(bytes) - first_power) / (last_power - first_power);
}

double down(double rate) {
    const double decades = std::clamp(std::log10(rate), double{first_decade}, double{last_decade});
    return top + height * (last_decade - decades) / (last_decade - first_decade);
}

std::string grid() {
    std::string text;
    for (int power = first_power; power <= last_power; power += 3) {
        const uint64_t bytes = UINT64_C(1) << power;
        text += fmt::format(
            "<line x1='{0:.1f}' y1='{1}' x2='{0:.1f}' y2='{2}' class='grid'/>"
            "<text x='{0:.1f}' y='{3}' text-anchor='middle'>{4}</text>\n",
            across(static_cast<double>(bytes)), top, top + height, top + height + 18, size_text(bytes));
    }
    for (int decade = first_decade; decade <= last_decade; ++decade) {
        const double rate = std::pow(10, decade);
        text += fmt::format(
            "<line x1='{0}' y1='{1:.1f}' x2='{2}' y2='{1:.1f}' class='grid'/>"
            "<text x='{3}' y='{4:.1f}' text-anchor='end'>{5:g}</text>\n",
            left, down(rate), left + width, left - 8, down(rate) + 4, rate);
    }
    return text;
}

std::string line(const Curve& curve, std::string_view colour, size_t place) {
    std::string path;
    std::string dots;
    for (const auto& point : curve.points) {
        const double x = across(static_cast<double>(point.collective.bytes));
        const double y = down(point.bus_rate());
        path += fmt::format("{:.1f},{:.1f} ", x, y);
        dots += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='3' fill='{}'/>", x, y, colour);
    }
    return fmt::format(
        "<polyline points='{}' fill='none' stroke='{}' stroke-width='2'/>{}<text x='{}' y='{}' fill='{}'>{}</text>\n",
        path, colour, dots, left + 12, top + 20 + 16 * static_cast<double>(place), colour, curve.library);
}

}  // namespace

std::string to_svg(const std::vector<Row>& rows) {
    constexpr std::array<std::string_view, 5> colours{"#0b6e4f", "#7fb069", "#c1440e", "#1f4e8c", "#8a5fb0"};
    std::string text = fmt::format(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 760 460' font-family='sans-serif' font-size='12'>\n"
        "<style>.grid{{stroke:#ddd}}</style><rect width='760' height='460' fill='white'/>\n"
        "<text x='{}' y='22' font-size='14'>all-reduce of 2 ranks: GB/s of the bus over bytes a rank</text>\n",
        left);
    text += grid();
    size_t place = 0;
    for (const auto& curve : curves(rows)) {
        text += line(curve, colours[place % colours.size()], place);
        ++place;
    }
    return text + "</svg>\n";
}

}  // namespace hal::bench::xccl

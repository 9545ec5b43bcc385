#include "curves.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>

#include "escape.hpp"

namespace hal::conformance {
namespace {

using nlohmann::json;

struct Point {
    double x, y;
};

struct Curve {
    std::string name, axis, unit;
    std::vector<Point> points;
};

constexpr double width = 520;
constexpr double height = 220;
constexpr double left = 64;
constexpr double bottom = 30;
constexpr double top = 12;
constexpr double right = 16;

// "perf.copy.h2d[size=4096]": the first parameter that is a number.
bool split_number(const std::string& id, std::string& axis, std::string& rest, double& x) {
    const size_t open = id.find('[');
    rest = id.substr(0, open);
    bool found = false;
    for (size_t at = open; at != std::string::npos && at + 1 < id.size(); at = id.find(',', at + 1)) {
        const size_t equals = id.find('=', at);
        const size_t end = id.find_first_of(",]", at + 1);
        if (equals == std::string::npos || end == std::string::npos || equals > end) {
            break;
        }
        const std::string key = id.substr(at + 1, equals - at - 1);
        const std::string value = id.substr(equals + 1, end - equals - 1);
        double number = 0;
        const auto [stop, failed] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (!found && failed == std::errc() && stop == value.data() + value.size() && number > 0) {
            found = true;
            axis = key;
            x = number;
        } else {
            rest += " " + key + "=" + value;
        }
    }
    return found;
}

std::string short_number(double value) {
    static constexpr std::array<std::pair<double, const char*>, 3> steps{
        {{1073741824, "Gi"}, {1048576, "Mi"}, {1024, "Ki"}}};
    char text[40];
    for (const auto& [step, suffix] : steps) {
        if (value >= step && std::fmod(value, step) == 0) {
            std::snprintf(text, sizeof text, "%.0f %s", value / step, suffix);
            return text;
        }
    }
    std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
    return text;
}

// Both axes are logarithmic if the values span more than a decade.
class Scale {
  public:
    Scale(double low, double high, double from, double to) : from_(from), to_(to) {
        log_ = low > 0 && high / low > 10;
        low_ = place(log_ ? low : std::min(low, 0.0));
        high_ = place(high);
    }
    [[nodiscard]] double operator()(double value) const {
        const double part = high_ > low_ ? (place(value) - low_) / (high_ - low_) : 0.5;
        return from_ + part * (to_ - from_);
    }

  private:
    [[nodiscard]] double place(double value) const { return log_ ? std::log2(value) : value; }
    double from_, to_, low_ = 0, high_ = 1;
    bool log_ = false;
};

std::string svg_of(const Curve& curve) {
    const auto less_y = [](const Point& a, const Point& b) { return a.y < b.y; };
    const auto [low, high] = std::minmax_element(curve.points.begin(), curve.points.end(), less_y);
    const Scale across(curve.points.front().x, curve.points.back().x, left, width - right);
    const Scale up(low->y, high->y, height - bottom, top);
    std::ostringstream svg;
    svg << "<svg viewBox=\"0 0 " << width << ' ' << height << "\" role=\"img\" aria-label=\"" << escape_xml(curve.name)
        << "\"><path class=\"axis\" d=\"M" << left << ' ' << top << 'V' << height - bottom << 'H' << width - right
        << "\"/>";
    for (const double y : {low->y, high->y}) {
        svg << "<text class=\"tick\" x=\"" << left - 6 << "\" y=\"" << up(y) + 4 << "\" text-anchor=\"end\">"
            << short_number(y) << "</text>";
    }
    std::string line;
    for (const Point& point : curve.points) {
        char at[64];
        std::snprintf(at, sizeof at, "%.1f,%.1f ", across(point.x), up(point.y));
        line += at;
        svg << "<text class=\"tick\" x=\"" << across(point.x) << "\" y=\"" << height - bottom + 16
            << "\" text-anchor=\"middle\">" << short_number(point.x) << "</text>";
    }
    svg << "<polyline class=\"curve\" points=\"" << line << "\"/>";
    for (const Point& point : curve.points) {
        svg << "<circle class=\"dot\" r=\"3\" cx=\"" << across(point.x) << "\" cy=\"" << up(point.y) << "\"><title>"
            << short_number(point.x) << ": " << short_number(point.y) << ' ' << escape_xml(curve.unit)
            << "</title></circle>";
    }
    svg << "</svg>";
    return svg.str();
}

}  // namespace

json metrics_view(const Model& model) {
    std::map<std::string, Curve> curves;
    json figures = json::array();
    for (const TestResult& test : model.tests) {
        const Attempt* last = test.last();
        for (const Metric& metric : last == nullptr ? std::vector<Metric>() : last->metrics) {
            figures.push_back({{"id", test.id},
                               {"name", metric.name},
                               {"value", short_number(metric.value)},
                               {"unit", clean(metric.unit)}});
            Curve one;
            std::string rest;
            double x = 0;
            // Quantiles and counts stay in the table.
            const bool plotted = metric.name.find("median") != std::string::npos || metric.unit == "GB/s";
            if (plotted && std::isfinite(metric.value) && split_number(test.id, one.axis, rest, x)) {
                one.name = rest + ", " + metric.name;
                one.unit = clean(metric.unit);
                curves.emplace(one.name, one).first->second.points.push_back({x, metric.value});
            }
        }
    }
    json list = json::array();
    for (auto& [name, curve] : curves) {
        if (curve.points.size() > 1) {
            std::sort(curve.points.begin(), curve.points.end(),
                      [](const Point& a, const Point& b) { return a.x < b.x; });
            list.push_back({{"name", name}, {"axis", curve.axis}, {"unit", curve.unit}, {"svg", svg_of(curve)}});
        }
    }
    const bool any = !figures.empty();
    return {{"curves", std::move(list)}, {"figures", std::move(figures)}, {"any", any}};
}

}  // namespace hal::conformance

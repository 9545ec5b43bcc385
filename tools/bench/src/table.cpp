#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace hal::bench {
namespace {

constexpr size_t column_count = 7;
using Cells = std::array<std::string, column_count>;

// About three digits whatever the magnitude.
std::string number(double value) {
    const double size = value < 0 ? -value : value;
    return size >= 100  ? fmt::format("{:.0f}", value)
           : size >= 10 ? fmt::format("{:.1f}", value)
                        : fmt::format("{:.2f}", value);
}

std::string figure(const Side& side) {
    return fmt::format("{} ({})", number(side.median), number(side.best));
}

Cells cells(const Row& row) {
    Cells out;
    out[0] = row.benchmark.name;
    out[1] = row.ours.samples.empty() ? "-" : fmt::format("{} {}", figure(row.ours), row.benchmark.unit);
    out[2] = row.benchmark.peer.empty() ? "-" : row.benchmark.peer;
    out[3] = row.peer ? figure(*row.peer) : "-";
    out[4] = row.ratio ? number(*row.ratio) + "x" : "-";
    const std::string goal = row.benchmark.goal.text(row.benchmark.unit);
    out[5] = goal.empty() ? "-" : goal;
    out[6] = std::string(name(row.verdict));
    return out;
}

std::string join(const Cells& cells, const std::array<size_t, column_count>& widths) {
    std::string line;
    for (size_t i = 0; i < column_count; ++i) {
        // Figures to the right, words to the left.
        line += i == 1 || i == 3 || i == 4 ? fmt::format("{:>{}}", cells[i], widths[i])
                                           : fmt::format("{:<{}}", cells[i], widths[i]);
        line += i + 1 < column_count ? "  " : "";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string remark(const Row& row) {
    std::string text = row.note;
    if (!row.reason.empty()) {
        text += (text.empty() ? "" : "; ") + row.reason;
    }
    return text;
}

std::string csv_field(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        out += c;
        if (c == '"') {
            out += c;
        }
    }
    return out + "\"";
}

}  // namespace

std::string to_table(const std::vector<Row>& rows) {
    std::vector<Cells> lines{
        {"row", "ours, median (best)", "peer or ceiling", "its figure", "ratio", "goal", "result"}};
    for (const auto& row : rows) {
        lines.push_back(cells(row));
    }
    std::array<size_t, column_count> widths{};
    for (const auto& line : lines) {
        for (size_t i = 0; i < column_count; ++i) {
            widths[i] = std::max(widths[i], line[i].size());
        }
    }
    std::string text;
    for (const auto& line : lines) {
        text += join(line, widths);
    }
    // A remark of many rows, and a cause that spoiled many, is said once.
    std::string remarks;
    std::map<std::string, std::string> notes;
    std::map<std::pair<Verdict, std::string>, std::vector<std::string>> causes;
    for (const auto& row : rows) {
        if (!row.note.empty()) {
            auto& names = notes[row.note];
            names += (names.empty() ? "" : ", ") + row.benchmark.name;
        }
        if (!row.reason.empty()) {
            causes[{row.verdict, row.reason}].push_back(row.benchmark.name);
        }
    }
    for (const auto& [note, names] : notes) {
        remarks += fmt::format("  {}: {}\n", note, names);
    }
    for (const auto& [cause, names] : causes) {
        const auto what = names.size() == 1 ? names.front() : fmt::format("{} rows", names.size());
        remarks += fmt::format("  {} {}: {}\n", what, name(cause.first), cause.second);
    }
    return remarks.empty() ? text : text + "remarks\n" + remarks;
}

std::string to_csv(const std::vector<Row>& rows) {
    std::string text =
        "name,unit,ours,ours_median,ours_best,peer,peer_median,peer_best,ratio,best_ratio,goal,verdict,remark\r\n";
    for (const auto& row : rows) {
        const bool measured = !row.ours.samples.empty();
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", csv_field(row.benchmark.name), csv_field(row.benchmark.unit),
            csv_field(row.benchmark.ours), measured ? fmt::format("{}", row.ours.median) : "",
            measured ? fmt::format("{}", row.ours.best) : "", csv_field(row.benchmark.peer),
            row.peer ? fmt::format("{}", row.peer->median) : "", row.peer ? fmt::format("{}", row.peer->best) : "",
            row.ratio ? fmt::format("{}", *row.ratio) : "", row.best_ratio ? fmt::format("{}", *row.best_ratio) : "",
            csv_field(row.benchmark.goal.text(row.benchmark.unit)), name(row.verdict), csv_field(remark(row)));
    }
    return text;
}

std::string to_summary(const std::vector<Row>& rows) {
    std::map<Verdict, int> count;
    for (const auto& row : rows) {
        ++count[row.verdict];
    }
    std::string text = fmt::format("{} rows:", rows.size());
    const char* separator = " ";
    for (const auto& [verdict, number_of_rows] : count) {
        text += fmt::format("{}{} {}", separator, number_of_rows, name(verdict));
        separator = ", ";
    }
    return text + "\n";
}

}  // namespace hal::bench

#include "text.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "escape.hpp"

namespace hal::conformance {
namespace {

constexpr std::array counted{Verdict::pass,           Verdict::fail,    Verdict::crash,        Verdict::hang,
                             Verdict::flaky,          Verdict::blocked, Verdict::quality,      Verdict::not_implemented,
                             Verdict::not_applicable, Verdict::not_run, Verdict::harness_error};
constexpr std::array<std::string_view, counted.size()> words{
    "pass", "fail", "crash", "hang", "flaky", "blocked", "quality", "n/i", "n/a", "not-run", "harness-error"};

// The beginning and the end of what a process that did not survive has said: a cause stands at the one or the other.
void quote(std::ostream& out, const std::string& text) {
    constexpr size_t at_each_end = 8;
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(std::move(line));
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        if (i == at_each_end && lines.size() > 2 * at_each_end) {
            i = lines.size() - at_each_end;
            out << "      | ...\n";
        }
        out << "      | " << one_line(lines[i], 200) << '\n';
    }
}

class Printer {
  public:
    Printer(std::ostream& out, const Model& model, const TextStyle& style) : out_(out), model_(model), style_(style) {}

    void all() {
        if (model_.only_figures()) {
            figures();
        } else if (!style_.quiet) {
            rows();
            topics();
            claims();
            tests("Quality (never fails)", [](const TestResult& test) { return test.verdict() == Verdict::quality; });
            tests("Harness errors (ours)",
                  [](const TestResult& test) { return test.verdict() == Verdict::harness_error; });
        }
        tests("Bad", [](const TestResult& test) { return test.is_bad(); });
        for (const auto& fault : model_.waiver_faults) {
            out_ << "waivers: " << fault << '\n';
        }
        if (!model_.only_figures()) {
            headlines();
        }
        out_ << counts_line(model_.totals.all) << '\n';
    }

  private:
    std::string painted(std::string_view kind, std::string text) const {
        if (!style_.colour) {
            return text;
        }
        const std::string_view code = kind == "good"   ? "32"
                                      : kind == "bad"  ? "31;1"
                                      : kind == "warn" ? "33"
                                      : kind == "open" ? "35"
                                                       : "2";
        return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
    }

    [[nodiscard]] std::string in_language(const Bilingual& text) const {
        return style_.language == Language::en   ? text.en
               : style_.language == Language::zh ? text.zh
                                                 : text.zh + " / " + text.en;
    }

    static std::string padded(std::string text, size_t width) {
        text.resize(std::max(text.size(), width), ' ');
        return text;
    }

    static std::string bar(const Group& group) {
        constexpr size_t width = 10;
        const size_t filled = group.total == 0 ? 0 : (group.applicable * width + group.total - 1) / group.total;
        return std::string(filled, '#') + std::string(width - filled, '.');
    }

    void row(const Row& one) {
        const std::string need = one.mandatory ? "M" : one.required && model_.begin.run.profile != "full" ? "P" : "O";
        out_ << "  " << padded(row_name(*one.entry), 14) << padded(std::string(one.entry->name), 28) << need << ' '
             << bar(one) << ' ' << painted(kind_of(one.verdict), one.text());
        if (!one.reason.empty()) {
            out_ << ": " << one.reason;
        }
        if (style_.language != Language::en) {
            out_ << "  " << chinese_name(one.entry->name);
        }
        out_ << '\n';
    }

    // A table of which nothing is there is one line.
    void rows() {
        for (const TableInfo& table : tables) {
            const auto shown = [](const Row& row) { return row.verdict != Verdict::not_implemented && !silent(row); };
            const std::span<const Row> list(model_.rows.data() + table.first, table.count);
            const auto some = std::count_if(list.begin(), list.end(), shown);
            if (some == 0) {
                const auto absent =
                    std::count_if(list.begin(), list.end(), [](const Row& row) { return !row.present; });
                if (absent == static_cast<ptrdiff_t>(table.count)) {
                    out_ << in_language(table_title(table)) << ": absent\n";
                }
                continue;
            }
            out_ << in_language(table_title(table)) << '\n';
            std::string absent;
            for (const Row& one : list) {
                if (shown(one)) {
                    row(one);
                } else if (!one.present) {
                    absent += " " + std::string(one.entry->name);
                }
            }
            if (!absent.empty()) {
                out_ << "  absent:" << absent << '\n';
            }
        }
    }

    // Left out by a filter, so that a run of one case is not buried under rows.
    static bool silent(const Row& row) { return row.filtered_out() && !bad(row.verdict); }

    void topics() {
        bool first = true;
        for (const Topic& topic : model_.topics) {
            if (topic.tests.empty()) {
                continue;
            }
            out_ << (first ? "Rules over several interfaces\n" : "");
            first = false;
            out_ << "  " << padded(topic.key, 42) << "  " << bar(topic) << ' '
                 << painted(kind_of(topic.verdict), topic.text()) << '\n';
        }
    }

    void claims() {
        for (const Claim& claim : model_.claims_not_shown) {
            out_ << "claimed, not shown: " << one_line(claim.what) << ": " << one_line(in_language(claim.why)) << '\n';
        }
    }

    template <class Wanted>
    void tests(std::string_view title, Wanted wanted) {
        bool first = true;
        for (const TestResult& test : model_.tests) {
            if (!wanted(test)) {
                continue;
            }
            out_ << (first ? std::string(title) + "\n" : "");
            first = false;
            one(test);
        }
    }

    void one(const TestResult& test) {
        out_ << "  " << painted(kind_of(test.verdict()), std::string(name(test.verdict()))) << ' ' << test.id;
        if (test.is_waived()) {
            out_ << " (waived by " << test.waived_by << ')';
        }
        out_ << ": " << one_line(test.judgement.reason) << '\n';
        if (const Attempt* last = test.last()) {
            for (const Finding& finding : last->record.findings) {
                out_ << "      " << finding.where << ": " << one_line(finding.what, 300) << ": expected "
                     << one_line(finding.expected, 300) << ", got " << one_line(finding.got, 300) << '\n';
            }
            if (test.verdict() == Verdict::crash || test.verdict() == Verdict::hang) {
                quote(out_, last->ending.stacks);
                quote(out_, last->output);
            }
        }
        out_ << "      again: " << test.reproduce << '\n';
    }

    // What most people look for; the rest is in the report.
    void figures() {
        for (const TestResult& test : model_.tests) {
            const Attempt* last = test.last();
            if (last == nullptr || last->metrics.empty()) {
                continue;
            }
            out_ << "  " << padded(test.id, 44);
            for (const Metric& metric : last->metrics) {
                if (metric.name != "p99" && metric.name != "mad" && metric.name != "min" && metric.name != "samples") {
                    out_ << "  " << metric.name << ' ' << std::setprecision(4) << metric.value << ' ' << metric.unit;
                }
            }
            out_ << '\n';
        }
    }

    void headline(const std::string& title, const Headline& one, std::string_view word) {
        out_ << padded(title, 18) << painted(kind_of(one.outcome), std::string(word));
        const size_t most = 4;
        for (size_t i = 0; i < std::min(one.reasons.size(), most); ++i) {
            out_ << (i == 0 ? ": " : "; ") << one_line(in_language(one.reasons[i]));
        }
        if (one.reasons.size() > most) {
            out_ << "; and " << one.reasons.size() - most << " more";
        }
        out_ << '\n';
    }

    void headlines() {
        headline("GB/T 45079", model_.standard, name(model_.standard.outcome));
        headline("HAL ABI", model_.abi, name(model_.abi.outcome));
        const Headline& profile = model_.profile();
        static constexpr std::array<std::string_view, 4> met{"met", "met with waivers", "not met", "incomplete"};
        headline("profile " + profile.key, profile, met[static_cast<size_t>(profile.outcome)]);
    }

    std::ostream& out_;
    const Model& model_;
    TextStyle style_;
};

}  // namespace

std::string_view kind_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass:
            return "good";
        case Verdict::quality:
            return "warn";
        case Verdict::harness_error:
        case Verdict::not_run:
            return "open";
        default:
            return bad(verdict) ? "bad" : "none";
    }
}

std::string_view kind_of(Outcome outcome) {
    static constexpr std::array<std::string_view, 4> kinds{"good", "warn", "bad", "open"};
    return kinds[static_cast<size_t>(outcome)];
}

std::string counts_line(const Counts& counts) {
    std::string line;
    for (size_t i = 0; i < counted.size(); ++i) {
        line.append(i == 0 ? "" : "  ").append(words[i]).append(" ").append(std::to_string(counts[counted[i]]));
    }
    return line;
}

void print_summary(std::ostream& out, const Model& model, const TextStyle& style) {
    Printer(out, model, style).all();
}

}  // namespace hal::conformance

#include "report.hpp"

#include <iomanip>
#include <ostream>

namespace hal::conformance {
namespace {

std::string_view letter(enum authority authority) {
    static constexpr std::string_view letters[] = {"S", "D", "A", "Q"};
    return letters[static_cast<size_t>(authority)];
}

std::string hex(uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

std::string text_of(const Need& need) {
    switch (need.kind) {
        case Need::Kind::entry:
            return std::string(entries[need.value].name);
        case Need::Kind::devices:
            return std::to_string(need.value) + " devices";
        case Need::Kind::device_flag:
            return std::string(need.text);
        case Need::Kind::op:
            return "kernel " + std::string(need.text);
        case Need::Kind::no_fork:
            return "no claim of fork safety";
        case Need::Kind::any_work:
            return "asynchronous work";
        case Need::Kind::gate:
            return "a gate";
        case Need::Kind::claim:
            return "the claim " + std::string(need.text);
        case Need::Kind::no_claim:
            return "no claim " + std::string(need.text);
    }
    return "?";
}

// Text of a plug-in must not reach the terminal as control characters.
std::string printable(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
    }
    return result;
}

}  // namespace

void Report::begin(const Target& target, const Facts& facts, uint64_t seed, size_t count) {
    out_ << "hal-conformance: " << target.id << " (" << target.library.string() << "), " << facts.device_count
         << " devices, " << facts.present.count() << " of " << entries.size() << " entries, " << count
         << " cases, seed " << hex(seed) << '\n';
    reproduce_ = "hal-conformance --manifest " + target.manifest.string();
    for (const auto& [key, value] : target.options) {
        reproduce_.append(" --option '").append(key).append("=").append(value).append("'");
    }
    reproduce_ += " --seed " + hex(seed) + " --filter '";
}

void Report::add(const Instance& instance, const Outcome& outcome, std::chrono::milliseconds took) {
    totals_.add(outcome.verdict);
    const bool wanted = outcome.verdict >= Verdict::quality;
    out_ << std::left << std::setw(15) << name(outcome.verdict) << ' ' << instance.id << " (" << outcome.checks_ok
         << " ok, " << outcome.checks_bad << " bad, " << took.count() << " ms)";
    if (!outcome.reason.empty()) {
        out_ << ": " << printable(outcome.reason);
    }
    out_ << '\n';
    if (wanted || verbose_) {
        for (const Finding& finding : outcome.findings) {
            out_ << "    " << finding.where << ": " << printable(finding.what) << ": expected "
                 << printable(finding.expected) << ", got " << printable(finding.got) << '\n';
        }
    }
    if (wanted) {
        bad_ids_.push_back(instance.id);
        out_ << "    again: " << reproduce_ << instance.id << "'\n";
    }
    out_.flush();
}

void Report::end() {
    for (const auto& id : bad_ids_) {
        out_ << "see above: " << id << '\n';
    }
    out_ << "summary:";
    for (const auto verdict : {Verdict::pass, Verdict::fail, Verdict::crash, Verdict::hang, Verdict::flaky,
                               Verdict::blocked, Verdict::quality, Verdict::not_implemented, Verdict::not_applicable,
                               Verdict::not_run, Verdict::harness_error}) {
        out_ << ' ' << name(verdict) << ' ' << totals_.of(verdict);
    }
    out_ << '\n';
}

void print_list(std::ostream& out, const std::vector<Instance>& instances) {
    for (const Instance& instance : instances) {
        out << instance.id << "  " << letter(instance.origin->authority) << "  ";
        for (const auto clause : instance.origin->clauses) {
            out << clause << ' ';
        }
        out << " needs:";
        for (const Need& need : instance.needs) {
            out << ' ' << text_of(need) << ';';
        }
        out << '\n';
    }
}

}  // namespace hal::conformance

#include "progress.hpp"

#include <iomanip>
#include <ostream>
#include <sstream>

namespace hal::conformance {

std::string hex(uint64_t value) {
    std::ostringstream text;
    text << "0x" << std::hex << value;
    return text.str();
}

std::string printable(std::string_view text) {
    std::string result;
    for (const char c : text) {
        result += (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F ? '?' : c;
    }
    return result;
}

void ProgressView::begun(const BeginEvent& begin, const FactsEvent& facts) {
    out_ << "hal-conformance: " << printable(begin.target.id) << " (" << begin.target.library << "), "
         << facts.facts.device_count << " devices, " << facts.facts.present.count() << " of " << entries.size()
         << " entries, " << begin.planned.size() << " cases, seed " << hex(begin.run.seed) << "\n"
         << std::flush;
}

void ProgressView::tested(const TestEvent& event, const Judgement& judgement, size_t done, size_t planned) {
    const bool said = bad(judgement.verdict) || judgement.verdict == Verdict::harness_error;
    bad_ += said ? 1 : 0;
    if (said || verbose_) {
        clear_bar();
        out_ << std::left << std::setw(15) << name(judgement.verdict) << ' ' << event.id << "  " << event.ms << " ms"
             << (judgement.reason.empty() ? "" : "\n    ") << printable(judgement.reason) << '\n';
    }
    if (judgement.verdict == Verdict::pass && category_of(event.id) == "perf") {
        clear_bar();
        out_ << std::left << std::setw(48) << event.id;
        print_metrics(event);
    }
    draw_bar(done, planned);
    out_ << std::flush;
}

void ProgressView::print_metrics(const TestEvent& event) {
    if (event.attempts.empty()) {
        return;
    }
    for (const Metric& metric : event.attempts.back().back().metrics) {
        out_ << "  " << metric.name << ' ' << std::setprecision(4) << metric.value << ' '
             << (metric.unit == "1" ? "" : metric.unit);
    }
    out_ << '\n';
}

void ProgressView::ended() {
    clear_bar();
    out_ << std::flush;
}

void ProgressView::clear_bar() {
    if (bar_) {
        out_ << "\r\033[K";
        bar_ = false;
    }
}

void ProgressView::draw_bar(size_t done, size_t planned) {
    if (!terminal_) {
        return;
    }
    constexpr size_t width = 40;
    const size_t filled = planned == 0 ? width : width * done / planned;
    out_ << "\r\033[K[" << std::string(filled, '#') << std::string(width - filled, '.') << "] " << done << '/'
         << planned << "  bad " << bad_;
    bar_ = true;
}

}  // namespace hal::conformance

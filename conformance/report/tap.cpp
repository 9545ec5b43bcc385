// The Test Anything Protocol, version 13.
#include <sstream>

#include "escape.hpp"
#include "render.hpp"
#include "text.hpp"

namespace hal::conformance {

std::string tap_text(const Model& model) {
    std::ostringstream out;
    out << "TAP version 13\n1.." << model.tests.size() << '\n';
    size_t number = 0;
    for (const TestResult& test : model.tests) {
        const Verdict verdict = test.verdict();
        const bool absent =
            verdict == Verdict::not_implemented || verdict == Verdict::not_applicable || verdict == Verdict::not_run;
        const bool excused = test.is_waived() && model.waivers_ok;
        const bool good = absent || verdict == Verdict::pass || verdict == Verdict::quality || excused;
        std::string reason = one_line(test.judgement.reason, 300);
        std::replace(reason.begin(), reason.end(), '#', ' ');  // begins a directive
        out << (good ? "ok " : "not ok ") << ++number << " - " << test.id;
        if (absent || excused) {
            out << " # SKIP " << (excused ? "waived by " + test.waived_by : std::string(name(verdict))) << ' '
                << reason;
        }
        out << '\n';
        if (!absent && verdict != Verdict::pass) {
            out << "# " << name(verdict) << ": " << reason << "\n# again: " << test.reproduce << '\n';
        }
    }
    out << "# " << counts_line(model.totals.all) << '\n';
    return out.str();
}

}  // namespace hal::conformance

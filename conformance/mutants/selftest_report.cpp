#include "selftest_report.hpp"

#include <algorithm>
#include <iomanip>

#include "catalogue.hpp"

namespace hal::conformance {
namespace {

template <class List, class Predicate>
size_t count_of(const List& list, Predicate predicate) {
    return static_cast<size_t>(std::count_if(list.begin(), list.end(), predicate));
}

bool killed(const GeneratedResult& result) {
    return !result.killers.empty();
}

void print_list(std::ostream& out, const char* title, const std::vector<std::string>& list) {
    if (list.empty()) {
        return;
    }
    out << title << '\n';
    for (const std::string& one : list) {
        out << "    " << one << '\n';
    }
}

void print_kills(std::ostream& out, const std::vector<KillResult>& kills) {
    out << std::left << std::setw(34) << "mutant" << std::setw(12) << "verdict" << std::setw(8) << "rounds"
        << "by\n";
    for (const KillResult& kill : kills) {
        out << std::setw(34) << kill.mutant << std::setw(12) << kill.verdict << std::setw(8)
            << std::to_string(kill.killed) + "/" + std::to_string(kill.rounds) << kill.killer << '\n';
        if (!kill.good()) {
            out << "    SURVIVES: expected " << kill.expected << "; " << kill.reason << '\n';
        }
    }
}

// One line an operator.
void print_generated(std::ostream& out, const std::vector<GeneratedResult>& generated) {
    for (const Operator& op : all_operators()) {
        const auto of_op = [&](const GeneratedResult& one) { return one.op == op.name; };
        const size_t all = count_of(generated, of_op);
        if (all != 0) {
            out << std::left << std::setw(14) << op.name << std::right << std::setw(4)
                << count_of(generated, [&](const auto& one) { return of_op(one) && killed(one); }) << " of " << all
                << " rows notice it, legal on "
                << count_of(generated, [&](const auto& one) { return of_op(one) && !one.legal.empty(); }) << "\n";
        }
    }
    for (const GeneratedResult& one : generated) {
        if (!killed(one) && one.legal.empty()) {
            out << "    SURVIVES gen." << one.op << '.' << one.entry << '\n';
        }
    }
}

}  // namespace

std::vector<std::string> SelftestReport::smoke_only() const {
    std::vector<std::string> rows;
    for (const GeneratedResult& one : generated) {
        if (one.op == "noop_ok" && !killed(one)) {
            rows.push_back(one.entry + (one.legal.empty() ? "" : ": " + std::string(one.legal)));
        }
    }
    return rows;
}

std::vector<std::string> SelftestReport::survivors() const {
    std::vector<std::string> names;
    for (const KillResult& kill : kills) {
        if (!kill.good()) {
            names.push_back(kill.mutant + " by " + kill.killer);
        }
    }
    for (const GeneratedResult& one : generated) {
        if (!killed(one) && one.legal.empty()) {
            names.push_back("gen." + one.op + "." + one.entry);
        }
    }
    return names;
}

bool SelftestReport::good() const {
    return faults.empty() && survivors().empty() && idle_cases.empty() &&
           std::all_of(oddities.begin(), oddities.end(),
                       [](const OddityResult& one) { return one.accusations.empty(); });
}

nlohmann::json to_json(const SelftestReport& report) {
    using nlohmann::json;
    json pairs = json::array();
    for (const KillResult& kill : report.kills) {
        pairs.push_back({{"mutant", kill.mutant},
                         {"killer", kill.killer},
                         {"verdict", kill.verdict},
                         {"killed", kill.good()},
                         {"rounds", kill.rounds},
                         {"rounds_killed", kill.killed}});
    }
    json generated = json::array();
    for (const GeneratedResult& one : report.generated) {
        generated.push_back(
            {{"mutant", "gen." + one.op + "." + one.entry}, {"killers", one.killers}, {"legal", one.legal}});
    }
    json harmless = json::array();
    json accused = json::array();
    for (const OddityResult& one : report.oddities) {
        harmless.push_back(one.name);
        if (!one.accusations.empty()) {
            accused.push_back(one.name);
        }
    }
    return {{"schema", 1},
            {"catalogue", report.catalogue},
            {"seed", report.seed},
            {"pairs", pairs},
            {"generated", generated},
            {"harmless", harmless},
            {"accused", accused},
            {"smoke_only", report.smoke_only()},
            {"faults", report.faults},
            {"left_out", report.left_out},
            {"idle_cases", report.idle_cases}};
}

void print(std::ostream& out, const SelftestReport& report) {
    print_kills(out, report.kills);
    print_generated(out, report.generated);
    print_list(out, "rows where doing nothing passes (smoke only):", report.smoke_only());
    for (const OddityResult& one : report.oddities) {
        print_list(out, ("accused, though legal: " + one.name).c_str(), one.accusations);
        print_list(out, ("quality findings about " + one.name).c_str(), one.qualities);
    }
    print_list(out, "faults of the list of mutants:", report.faults);
    print_list(out, "left out:", report.left_out);
    print_list(out, "cases that killed nothing:", report.idle_cases);
    std::set<std::string_view> mutants;
    std::set<std::string_view> alive;
    for (const KillResult& kill : report.kills) {
        mutants.insert(kill.mutant);
        if (!kill.good()) {
            alive.insert(kill.mutant);
        }
    }
    out << "selftest: mutants " << mutants.size() << "  killed by each named killer " << mutants.size() - alive.size()
        << "  generated " << report.generated.size() << "  killed " << count_of(report.generated, killed)
        << "  oddities " << report.oddities.size() << "  accused "
        << count_of(report.oddities, [](const auto& one) { return !one.accusations.empty(); }) << "  seed "
        << report.seed << "\n";
}

}  // namespace hal::conformance

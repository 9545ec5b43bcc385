#include "selftest.hpp"

#include <fstream>
#include <iostream>
#include <random>

#include "mutants/catalogue.hpp"
#include "run.hpp"

namespace hal::conformance {
namespace {

int print_mutants() {
    for (const Mutant& mutant : all_mutants()) {
        std::cout << mutant.name << "  " << mutant.row << ": " << mutant.what << "\n    " << mutant.verdict << " by "
                  << mutant.killers << '\n';
    }
    for (const Operator& op : all_operators()) {
        std::cout << "gen." << op.name << ".<entry>  " << op.what << '\n';
    }
    for (const Oddity& oddity : all_oddities()) {
        std::cout << oddity.name << "  " << oddity.what << "\n    no case may accuse it\n";
    }
    return exit_good;
}

}  // namespace

void add_selftest(CLI::App& app, SelftestCommand& command) {
    SelftestOptions& options = command.options;
    options.seed = std::random_device()() | 1U;  // never the default seed: a cheat may know its data
    app.add_option("--manifest", options.manifest, "manifest of the mutants; those of this installation without it");
    app.add_option("--only", options.only, "mutants whose name matches; * and ?; may be repeated")
        ->allow_extra_args(false);
    app.add_flag("--mini", options.mini, "one mutant of each class, about 10 s");
    app.add_flag("--whole-suite", options.whole_suite, "every case against every oddity, not the quick ones alone");
    app.add_option("--seed", options.seed, "seed of all test data; drawn without it");
    app.add_option("--rounds", options.rounds, "runs of each killer, with other data each")->check(CLI::PositiveNumber);
    app.add_option("-j,--jobs", options.jobs, "mutants that are run beside each other")->check(CLI::Range(1, 256));
    app.add_option("--out", command.out, "file for the result as JSON");
    app.add_flag("--list", command.list, "print the mutants and leave");
    app.add_flag("-v,--verbose", command.verbose, "print each mutant when it is done");
}

int selftest_command(const SelftestCommand& command) {
    if (command.list) {
        return print_mutants();
    }
    const SelftestReport report = run_selftest(command.options, [&](const std::string& text) {
        if (command.verbose) {
            std::cout << text << std::endl;
        }
    });
    if (report.kills.empty() && report.generated.empty() && report.oddities.empty()) {
        std::cerr << "hal-conformance: --only matches no mutant; selftest --list shows them\n";
        return exit_nothing_ran;
    }
    print(std::cout, report);
    if (!command.out.empty() && !(std::ofstream(command.out) << to_json(report).dump(1) << '\n')) {
        std::cerr << "hal-conformance: cannot write " << command.out << '\n';
        return exit_harness;
    }
    return report.good() ? exit_good : exit_bad;
}

}  // namespace hal::conformance

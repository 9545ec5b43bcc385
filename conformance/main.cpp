// hal-conformance: runs the behaviour suite against one plug-in.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "harness/child.hpp"
#include "harness/filter.hpp"
#include "harness/report.hpp"

namespace {

using namespace hal::conformance;

enum Exit { exit_bad = 1, exit_usage = 2, exit_not_loaded = 3, exit_nothing_ran = 4, exit_harness = 6 };

struct Arguments {
    std::string manifest;
    std::vector<std::string> options;
    std::vector<std::string> filters;
    uint64_t seed = 0x5EED;
    bool verbose = false;
    std::string role;
    std::vector<std::string> role_arguments;

    [[nodiscard]] Options option_map() const {
        Options map;
        for (const auto& text : options) {
            const size_t equals = text.find('=');
            map[text.substr(0, equals)] = text.substr(equals + 1);
        }
        return map;
    }
};

std::vector<Instance> choose(const std::vector<std::string>& filters) {
    std::vector<Instance> chosen = all_instances();
    std::erase_if(chosen, [&](const Instance& instance) {
        return !filters.empty() && std::none_of(filters.begin(), filters.end(), [&](const std::string& pattern) {
            return matches(pattern, instance.id) || matches(pattern, instance.origin->id);
        });
    });
    return chosen;
}

int nothing_matches(const std::vector<std::string>& filters) {
    std::vector<std::string> ids;
    for (const auto& instance : all_instances()) {
        ids.push_back(instance.id);
    }
    for (const auto& pattern : filters) {
        std::cerr << "hal-conformance: no case matches '" << pattern << "'; the nearest are\n";
        for (const auto& id : nearest(pattern, ids, 3)) {
            std::cerr << "    " << id << '\n';
        }
    }
    return exit_nothing_ran;
}

int run(const Arguments& arguments) {
    const auto chosen = choose(arguments.filters);
    if (chosen.empty()) {
        return nothing_matches(arguments.filters);
    }
    const Target target = load_target(arguments.manifest, arguments.option_map());
    const Facts facts = collect_facts(target);
    const Limits limits;
    Report report(std::cout, arguments.verbose);
    report.begin(target, facts, arguments.seed, chosen.size());
    const Instance* running = nullptr;
    // A thread that hangs in a plug-in cannot be ended: say which case it is and leave.
    Watchdog watchdog([&] {
        Outcome outcome;
        outcome.verdict = Verdict::hang;
        outcome.reason = "no end after " + std::to_string(limits.whole_case.count()) + " s; the rest did not run";
        report.add(*running, outcome, limits.whole_case);
        _exit(exit_bad);
    });
    for (const Instance& instance : chosen) {
        running = &instance;
        const auto begin = std::chrono::steady_clock::now();
        auto outcome = not_applicable(instance, facts);
        if (!outcome) {
            watchdog.start(limits.whole_case);
            outcome = run_case(instance, target, facts, arguments.seed, limits);
            watchdog.stop();
        }
        const auto took = std::chrono::steady_clock::now() - begin;
        report.add(instance, *outcome, std::chrono::duration_cast<std::chrono::milliseconds>(took));
    }
    report.end();
    return exit_status(report.totals());
}

void describe(CLI::App& app, Arguments& arguments) {
    app.description("Runs the behaviour suite of the contract against a plug-in's own tables.");
    app.fallthrough();
    app.require_subcommand(0, 1);
    app.add_option("--manifest", arguments.manifest, "manifest (JSON) of the back end under test");
    app.add_option("--option", arguments.options, "option of the back end, key=value; may be repeated")
        ->allow_extra_args(false)
        ->check([](const std::string& text) {
            return text.find('=') == std::string::npos ? "--option wants key=value, got " + text : std::string();
        });
    app.add_option("--filter", arguments.filters, "run the cases whose id matches; * and ?; may be repeated")
        ->allow_extra_args(false);
    app.add_option("--seed", arguments.seed, "seed of all test data");
    app.add_flag("-v,--verbose", arguments.verbose, "print the findings of quality checks too");
}

int dispatch(int argc, char** argv) {
    CLI::App app;
    Arguments arguments;
    describe(app, arguments);
    app.add_subcommand("run", "run the cases (the default)");
    const CLI::App* list = app.add_subcommand("list", "list the cases: id, authority, clauses, needs");
    CLI::App* child = app.add_subcommand("child", "")->group("");
    child->add_option("role", arguments.role)->required();
    child->add_option("arguments", arguments.role_arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : exit_usage;
    }
    if (list->parsed()) {
        const auto chosen = choose(arguments.filters);
        print_list(std::cout, chosen);
        return chosen.empty() ? nothing_matches(arguments.filters) : 0;
    }
    if (arguments.manifest.empty()) {
        std::cerr << "hal-conformance: --manifest FILE is needed\n";
        return exit_usage;
    }
    if (child->parsed()) {
        return child_main(load_target(arguments.manifest, arguments.option_map()), arguments.role,
                          arguments.role_arguments);
    }
    return run(arguments);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return dispatch(argc, argv);
    } catch (const LoadError& error) {
        std::cerr << "hal-conformance: " << error.what() << '\n';
        return exit_not_loaded;
    } catch (const std::exception& error) {
        std::cerr << "hal-conformance: " << error.what() << '\n';
        return exit_harness;
    }
}

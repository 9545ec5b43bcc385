// hal-conformance: proves a plug-in against the standard and the contract.
#include <cstring>
#include <iostream>

#include "cli/list.hpp"
#include "cli/reports.hpp"
#include "cli/run.hpp"
#include "cli/selftest.hpp"
#include "engine/launched.hpp"
#include "engine/worker.hpp"
#include "harness/child.hpp"

namespace {

using namespace hal::conformance;

struct ChildCommand {
    std::string manifest;
    std::vector<std::string> options;
    std::string role;
    std::vector<std::string> arguments;
};

void add_child(CLI::App& app, ChildCommand& command) {
    app.add_option("--manifest", command.manifest)->required();
    app.add_option("--option", command.options)->allow_extra_args(false);
    app.add_option("role", command.role)->required();
    app.add_option("arguments", command.arguments);
}

// Unless the caller chooses among them.
void only_collectives(Choice& choice) {
    if (choice.filters.empty() && choice.exact.empty()) {
        choice.filters = {"45079.T10.*", "hal.xccl_ext.*"};
    }
}

// Rank 0 tells; the others only take part.
int run_launched(RunCommand& command, int argc, char** argv) {
    Launched launched(launch_from_environment());
    command.options.launched = &launched;
    if (launched.rank() != 0) {
        command.out.clear();
        std::cout.setstate(std::ios::failbit);
    }
    return run_command(command, argc, argv);
}

int dispatch(int argc, char** argv) {
    CLI::App app("Proves a back end of the hardware abstraction layer: calls its own tables, one process per case.");
    app.require_subcommand(1);
    RunCommand run;
    RunCommand xccl;
    RunCommand perf;
    perf.options.choice.perf = true;
    ListCommand list;
    SelftestCommand selftest;
    ChildCommand child;
    CLI::App* run_app = app.add_subcommand("run", "run the cases against a plug-in");
    CLI::App* xccl_app = app.add_subcommand("xccl", "run the cases of collectives: table 10 and its extension");
    CLI::App* perf_app = app.add_subcommand("perf", "measure the plug-in; figures to compare, no verdict");
    CLI::App* list_app = app.add_subcommand("list", "the cases: id, authority, class, clauses, needs");
    CLI::App* selftest_app = app.add_subcommand("selftest", "prove that the checker itself catches faults");
    CLI::App* child_app = app.add_subcommand("child", "")->group("");
    add_run(*run_app, run);
    add_run(*xccl_app, xccl);
    bool launched = false;
    xccl_app->add_flag("--ranks-from-env", launched,
                       "a launcher (mpirun, torchrun) has started this program once a rank; cases of that many ranks");
    add_run(*perf_app, perf);
    add_list(*list_app, list);
    add_selftest(*selftest_app, selftest);
    add_child(*child_app, child);
    const ReportCommands reports(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? exit_good : exit_usage;
    }
    if (list_app->parsed()) {
        return list_command(list);
    }
    if (selftest_app->parsed()) {
        return selftest_command(selftest);
    }
    if (const auto status = reports.run()) {
        return *status;
    }
    if (child_app->parsed()) {
        return child_main(load_target(child.manifest, option_map(child.options)), child.role, child.arguments);
    }
    if (xccl_app->parsed()) {
        only_collectives(xccl.options.choice);
        return launched ? run_launched(xccl, argc, argv) : run_command(xccl, argc, argv);
    }
    return run_command(perf_app->parsed() ? perf : run, argc, argv);
}

int failed(int status, const std::exception& error) {
    std::cerr << "hal-conformance: " << error.what() << '\n';
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], worker_word) == 0) {
        worker_main();
    }
    try {
        return dispatch(argc, argv);
    } catch (const LoadError& error) {
        return failed(exit_not_loaded, error);
    } catch (const CLI::ValidationError& error) {
        return failed(exit_usage, error);
    } catch (const WaiverError& error) {
        return failed(exit_usage, error);
    } catch (const NoMatch& error) {
        return failed(exit_nothing_ran, error);
    } catch (const std::exception& error) {
        return failed(exit_harness, error);
    }
}

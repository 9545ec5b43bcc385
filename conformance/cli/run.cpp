#include "run.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include "engine/temp_folder.hpp"
#include "mutants/selftest.hpp"
#include "progress.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!fs::is_directory(folder)) {
        throw LogError("cannot create " + folder.string() + ": " + failed.message());
    }
}

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = [](int) { interrupt_run(); };
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

std::chrono::seconds time_span(const std::string& text) {
    const std::map<std::string, int64_t> units{{"s", 1}, {"m", 60}, {"h", 3600}};
    int64_t count = 0;
    std::string unit;
    std::istringstream words(text);
    words >> count >> unit;
    if (count <= 0 || !units.contains(unit)) {
        throw CLI::ValidationError("--soak", "wants a time as 90s, 30m or 8h, got " + text);
    }
    return std::chrono::seconds(count * units.at(unit));
}

// The ids that were bad in the run of this folder.
std::vector<std::string> bad_ids_of(const std::string& folder) {
    const Log log = read_log(fs::path(folder) / "events.jsonl");
    const auto instances = all_instances();
    std::vector<std::string> ids;
    for (const TestEvent& event : log.tests) {
        const Instance* const found = find_instance(instances, event.id);
        if (found == nullptr || judgement_of(event, found->origin->authority).verdict > Verdict::not_run) {
            ids.push_back(event.id);
        }
    }
    if (ids.empty()) {
        throw NoMatch("no case was bad in " + folder);
    }
    return ids;
}

// Data that no plug-in can know beforehand, over everything: what a vendor signs.
void certify(RunOptions& options) {
    if (options.choice.partial() || options.isolation == Isolation::none || options.fail_fast) {
        throw CLI::ValidationError("--certify",
                                   "excludes every option that leaves something out: filters, --quick, "
                                   "--shard, --fail-fast and --isolation none");
    }
    std::random_device entropy;
    options.seed = (static_cast<uint64_t>(entropy()) << 32U) | entropy();
}

// A verdict to be signed wants a checker that has just shown what it catches; its proof stays with the report.
Power prove_power() {
    std::cout << "certify: selftest --mini first" << std::endl;
    SelftestOptions options;
    options.mini = true;
    options.seed = std::random_device()() | 1U;
    const SelftestReport report = run_selftest(options, [](const std::string&) {});
    if (!report.good()) {
        print(std::cout, report);
        throw HarnessError("--certify: the checker failed its own selftest, so that its verdict is worth nothing");
    }
    const nlohmann::json proof = to_json(report);
    auto power = proof.get<Power>();
    power.text = proof.dump(1) + "\n";
    return power;
}

int dry_run(const RunOptions& options) {
    for (const Instance& instance : choose(options.choice)) {
        std::cout << instance.id << '\n';
    }
    return exit_good;
}

// This process under gdb, with the plug-in in it.
[[noreturn]] void become_gdb(int argc, char** argv) {
    std::vector<std::string> words{"gdb", "-ex", "run", "--args", "/proc/self/exe"};
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) != "--gdb") {
            words.emplace_back(argv[i]);
        }
    }
    words[4] = fs::read_symlink("/proc/self/exe").string();
    words.insert(words.end(), {"--isolation", "none"});
    std::vector<char*> pointers;
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    execvp("gdb", pointers.data());
    throw LogError("--gdb: gdb cannot be started; install it, or leave --gdb out");
}

}  // namespace

Options option_map(const std::vector<std::string>& words) {
    Options map;
    for (const std::string& word : words) {
        const size_t equals = word.find('=');
        map[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return map;
}

void add_run(CLI::App& app, RunCommand& command) {
    RunOptions& options = command.options;
    app.add_option("--manifest", options.manifest, "manifest (JSON) of the back end under test")->required();
    app.add_option("--option", command.plugin_options, "option of the back end, key=value; may be repeated")
        ->allow_extra_args(false)
        ->check([](const std::string& text) {
            return text.find('=') == std::string::npos ? "--option wants key=value, got " + text : std::string();
        });
    add_choice(app, options.choice);
    app.add_option("--profile", options.profile, "the rows that are required")
        ->check(CLI::IsMember({"gb-min", "gb-train", "gb-infer", "gb-graph", "gb-xccl", "full"}));
    app.add_option("--seed", options.seed, "seed of all test data and of the order");
    app.add_flag("--no-shuffle", command.no_shuffle, "in the order of the ids");
    app.add_option("--repeat", options.repeat, "run each case so often; differing outcomes are FLAKY")
        ->check(CLI::PositiveNumber);
    app.add_flag("--until-fail", options.until_fail, "with --repeat: stop repeating a case once it is bad");
    app.add_option_function<std::string>(
        "--soak", [&options](const std::string& text) { options.soak = time_span(text); },
        "repeat the cases for so long: 90s, 30m, 8h");
    app.add_option(
           "-j,--jobs", options.jobs,
           "cases that run beside each other; without it the number of cores if all devices are software, else 1")
        ->check(CLI::Range(1, 256));
    app.add_option("--isolation", command.isolation, "a process per test or interface, or none for a debugger")
        ->check(CLI::IsMember({"test", "interface", "none"}));
    app.add_option("--timeout-mult", options.timeout_mult, "stretches every limit, for slow machines")
        ->check(CLI::Range(0.1, 1000.0));
    app.add_flag("--fail-fast", options.fail_fast, "stop at the first bad case");
    app.add_flag("--no-stacks", command.no_stacks, "do not look at the threads of a worker that hangs");
    app.add_flag("--gdb", command.gdb, "run in gdb, in one process");
    app.add_option("--rerun-failed", command.rerun_failed, "the cases that were bad in the report of this folder");
    app.add_flag("--certify", command.certify, "everything, with data drawn for this run");
    app.add_flag("--core", command.core, "let workers that crash leave a core file");
    app.add_flag("--dry-run", command.dry_run, "print the ids that would run");
    app.add_option("--out", command.out, "folder of the report");
    add_run_report(app, command.report);
    app.add_flag("-v,--verbose", command.verbose, "print every case");
    app.add_flag("--quiet", command.quiet, "print the summary only");
}

int run_command(RunCommand& command, int argc, char** argv) {
    RunOptions& options = command.options;
    options.command.assign(argv, argv + argc);
    options.options = option_map(command.plugin_options);
    options.shuffled = !command.no_shuffle;
    options.stacks = !command.no_stacks;
    options.isolation = command.isolation == "test"        ? Isolation::test
                        : command.isolation == "interface" ? Isolation::interface
                                                           : Isolation::none;
    if (!command.rerun_failed.empty()) {
        const auto ids = bad_ids_of(command.rerun_failed);
        options.choice.exact.insert(options.choice.exact.end(), ids.begin(), ids.end());
    }
    if (command.certify) {
        certify(options);
    }
    if (command.dry_run) {
        return dry_run(options);
    }
    if (command.gdb) {
        become_gdb(argc, argv);
    }
    if (command.core) {
        setenv("HAL_CONFORMANCE_CORE", "1", 1);
    }
    Evidence evidence = evidence_of(command.report);
    if (command.certify) {
        evidence.power = prove_power();
    }
    std::optional<TempFolder> passing;  // without --out the log goes away with the run
    const fs::path kept = command.out;
    if (kept.empty()) {
        passing.emplace("conformance");
    } else {
        make_folder(kept);
    }
    options.log = (passing ? passing->path() : kept) / "events.jsonl";
    ProgressView view(std::cout, isatty(STDOUT_FILENO) != 0, command.verbose);
    Progress progress;
    if (!command.quiet) {
        progress.begun = [&](const BeginEvent& begin, const FactsEvent& facts) { view.begun(begin, facts); };
        progress.tested = [&](const TestEvent& event, const Judgement& judgement, size_t done, size_t planned) {
            view.tested(event, judgement, done, planned);
        };
    }
    catch_interrupts();
    const Log log = run(options, progress);
    view.ended();
    return report_run(log, kept, evidence, command.report, command.quiet);
}

}  // namespace hal::conformance

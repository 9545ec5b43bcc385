// hal-bench: our figures beside those of a peer or a ceiling, measured in the same run. Options: --help.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "benchmark.hpp"
#include "context.hpp"
#include "harness.hpp"
#include "instructions.hpp"
#include "json.hpp"
#include "table.hpp"
#include "xccl/plot.hpp"
#include "xccl/points.hpp"

namespace hal::bench {
namespace {

struct CommandLine {
    Settings settings;
    bool list = false;
    std::string counted_path;  // PATH:COUNT
};

void add_options(CLI::App& app, CommandLine& line) {
    Settings& settings = line.settings;
    app.add_option("--backend", settings.backend, "back end under test")->capture_default_str();
    app.add_option("--manifest", settings.manifests,
                   "its manifest, or a directory of manifests; else the loader searches");
    app.add_option("--group", settings.groups, "only these groups (--list names them)")->delimiter(',');
    app.add_option("--filter", settings.filter, "only rows whose name contains this text");
    app.add_option("--repetitions", settings.repetitions, "interleaved samples of each side; 11, with --quick 7")
        ->check(CLI::Range(1, 10'000));
    app.add_option("--retries", settings.retries, "further tries for a row when the machine was busy")
        ->check(CLI::Range(0, 100))
        ->capture_default_str();
    app.add_option("--wait-quiet", settings.wait_quiet_s,
                   "wait up to this many seconds for an idle machine before a row")
        ->check(CLI::Range(0.0, 86'400.0));
    app.add_flag("--quick", settings.quick, "shorter samples and fewer sizes: seconds instead of minutes");
    app.add_flag("--instructions", settings.instructions, "also count instructions of a call with valgrind");
    app.add_option("--json", settings.json, "write the result as JSON (schemas/bench-1.json)");
    app.add_option("--csv", settings.csv, "write the result as CSV");
    app.add_option("--plot", settings.plot, "draw the all-reduces of group xccl as SVG; measures further sizes for it");
    app.add_flag("--list", line.list, "print groups and rows and measure nothing");
    app.add_option(counted_path_option, line.counted_path)->group("");
}

// Settings that follow from others unless they were given.
void complete(const CLI::App& app, Settings& settings) {
    for (auto& manifest : settings.manifests) {
        // The loader takes absolute paths only; a user of a command line means the working directory.
        manifest = std::filesystem::absolute(manifest).string();
    }
    if (settings.quick) {
        settings.batch_s = 0.002;
        if (app.count("--repetitions") == 0) {
            settings.repetitions = 7;
        }
        if (app.count("--retries") == 0) {
            settings.retries = 0;
        }
    }
}

bool chosen(const Settings& settings, std::string_view group) {
    return settings.groups.empty() ||
           std::find(settings.groups.begin(), settings.groups.end(), group) != settings.groups.end();
}

void require_known_groups(const Settings& settings) {
    const auto known = groups();
    for (const auto& wanted : settings.groups) {
        if (std::none_of(known.begin(), known.end(), [&](const Group& group) { return group.name == wanted; })) {
            std::string names;
            for (const auto& group : known) {
                names += fmt::format("{}{}", names.empty() ? "" : ", ", group.name);
            }
            throw std::invalid_argument(fmt::format("no group {}; there are {}", wanted, names));
        }
    }
}

// Group by group. An empty choice is an error: it is a misspelt filter.
std::vector<Benchmark> choose(const Settings& settings) {
    require_known_groups(settings);
    std::vector<Benchmark> list;
    for (const auto& group : groups()) {
        if (!chosen(settings, group.name)) {
            continue;
        }
        for (auto& benchmark : group.benchmarks(settings)) {
            if (benchmark.name.find(settings.filter) != std::string::npos) {
                list.push_back(std::move(benchmark));
            }
        }
    }
    if (list.empty()) {
        throw std::invalid_argument(fmt::format("no row contains {}; --list names them", settings.filter));
    }
    return list;
}

void print_list(const Settings& settings, const std::vector<Benchmark>& benchmarks) {
    for (const auto& group : groups()) {
        if (chosen(settings, group.name)) {
            fmt::print("{}: {}\n", group.name, group.effect);
        }
    }
    for (const auto& benchmark : benchmarks) {
        const std::string goal = benchmark.goal.text(benchmark.unit);
        fmt::print("  {:<32} {} against {}{}\n", benchmark.name, benchmark.ours,
                   benchmark.peer.empty() ? "its goal" : benchmark.peer, goal.empty() ? "" : ", goal " + goal);
    }
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    if (path.empty()) {
        return;
    }
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
        throw std::runtime_error(fmt::format("cannot write {}", path.string()));
    }
}

int count_calls(const std::string& path_and_count) {
    const size_t colon = path_and_count.find(':');
    run_counted_path(path_and_count.substr(0, colon), std::stoul(path_and_count.substr(colon + 1)));
    return 0;
}

// One line on the terminal that each call overwrites; nothing when stderr is a file.
void progress(const std::string& text) {
    if (isatty(STDERR_FILENO) != 0) {
        fmt::print(stderr, "\r\033[K{}", text);
    }
}

int run(const Settings& settings, const std::vector<Benchmark>& benchmarks) {
    Context context(settings);
    Probe probe;
    std::vector<Row> rows;
    for (const auto& benchmark : benchmarks) {
        progress(fmt::format("[{}/{}] {}", rows.size() + 1, benchmarks.size(), benchmark.name));
        rows.push_back(measure(benchmark, context, probe, settings));
    }
    progress("");
    fmt::print("{}{}{}", to_table(rows), xccl::to_collectives(rows), to_summary(rows));

    RunInfo info{settings.backend, context.has_backend() ? context.backend().version() : "", settings};
    write_file(settings.json, to_json(rows, info));
    write_file(settings.csv, to_csv(rows));
    if (!settings.plot.empty()) {
        write_file(settings.plot, xccl::to_svg(rows));
    }
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.verdict == Verdict::error; }) ? 1 : 0;
}

int main_guarded(int argc, char** argv) {
    CLI::App app(
        "Benchmarks of the HAL: each figure beside that of a peer or ceiling measured in the same run.\n"
        "A missed goal does not change the exit code; an error makes it 1.");
    CommandLine line;
    add_options(app, line);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 1;
    }
    if (!line.counted_path.empty()) {
        return count_calls(line.counted_path);
    }
    complete(app, line.settings);
    const auto benchmarks = choose(line.settings);
    if (line.list) {
        print_list(line.settings, benchmarks);
        return 0;
    }
    return run(line.settings, benchmarks);
}

}  // namespace
}  // namespace hal::bench

int main(int argc, char** argv) {
    try {
        return hal::bench::main_guarded(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "hal-bench: {}\n", error.what());
        return 1;
    }
}

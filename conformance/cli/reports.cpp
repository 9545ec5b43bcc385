#include "reports.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "report/diff.hpp"
#include "report/folder.hpp"
#include "report/merge.hpp"
#include "report/verify.hpp"
#include "run.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;

std::string today() {
    return utc_now().substr(0, 10);
}

Formats chosen(const std::string& formats) {
    return formats.empty() ? default_formats() : formats_of(formats);
}

void add_language(CLI::App& app, std::string& language) {
    app.add_option("--lang", language, "of the summary: en, zh or both")->check(CLI::IsMember({"en", "zh", "both"}));
}

void add_formats(CLI::App& app, std::string& formats) {
    app.add_option("--format", formats, "files to write, of json,junit,html,md,tap (all but tap if not given)")
        ->check([](const std::string& text) {
            try {
                (void)formats_of(text);
                return std::string();
            } catch (const std::invalid_argument& error) {
                return std::string(error.what());
            }
        });
}

// Colours where a person looks: on a terminal, and not if NO_COLOR is set.
TextStyle terminal_style(const std::string& language, bool quiet) {
    const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    return {colour, quiet, language == "zh" ? Language::zh : language == "both" ? Language::both : Language::en};
}

int refused(int status, const std::exception& error) {
    std::cerr << "hal-conformance: " << error.what() << '\n';
    return status;
}

CLI::Option* folder_option(CLI::App& app, const char* name, std::string& folder, const char* what) {
    return app.add_option(name, folder, what)->required()->check(CLI::ExistingDirectory);
}

}  // namespace

// ---- report ----

void add_report(CLI::App& app, ReportCommand& command) {
    folder_option(app, "folder", command.folder, "folder with the events.jsonl of a run");
    add_formats(app, command.formats);
    add_language(app, command.language);
    app.add_flag("--quiet", command.quiet, "headlines and counts only");
}

int report_command(const ReportCommand& command) {
    const Model model = read_model(command.folder, compiled_in());
    write_folder(command.folder, model, chosen(command.formats));
    print_summary(std::cout, model, terminal_style(command.language, command.quiet));
    return model.exit_code();
}

// ---- verify ----

void add_verify(CLI::App& app, VerifyCommand& command) {
    folder_option(app, "folder", command.folder, "folder of the report");
}

int verify_command(const VerifyCommand& command) {
    const auto problems = verify(command.folder, compiled_in(), today());
    for (const Problem& problem : problems) {
        std::cout << "verify: " << problem.text << " (" << static_cast<int>(problem.fault) << ")\n";
    }
    if (problems.empty()) {
        std::cout << "verify: " << command.folder << " is what its log says\n";
    }
    return exit_code(problems);
}

// ---- diff ----

void add_diff(CLI::App& app, DiffCommand& command) {
    folder_option(app, "before", command.before, "folder of the earlier report");
    folder_option(app, "after", command.after, "folder of the later one");
}

int diff_command(const DiffCommand& command) {
    // Reports of two versions of the suite may be compared: no catalogue is held against them.
    const Catalogue catalogue = compiled_in();
    const auto model = [&](const std::string& folder) {
        return build(read_log(fs::path(folder) / names::events), catalogue, read_evidence(folder));
    };
    const Diff changes = diff(model(command.before), model(command.after));
    print_diff(std::cout, changes);
    return worse(changes) ? exit_bad : exit_good;
}

// ---- merge ----

void add_merge(CLI::App& app, MergeCommand& command) {
    app.add_option("folders", command.folders, "folders of all shards of a run")
        ->required()
        ->check(CLI::ExistingDirectory);
    app.add_option("--out", command.out, "folder of the joined report; must have no log yet")->required();
}

int merge_command(const MergeCommand& command) {
    std::vector<Log> logs;
    for (const std::string& folder : command.folders) {
        logs.push_back(read_log(fs::path(folder) / names::events));
    }
    const Log log = merged(logs, command.folders);
    fs::create_directories(command.out);
    {
        LogWriter writer(fs::path(command.out) / names::events);
        writer.add(log.begin);
        if (log.facts) {
            writer.add(*log.facts);
        }
        for (const TestEvent& event : log.tests) {
            writer.add(event);
        }
        writer.add(*log.end);
    }
    const Model model = read_model(command.out, compiled_in());
    write_folder(command.out, model);
    print_summary(std::cout, model, terminal_style("en", false));
    return model.exit_code();
}

// ---- waive ----

void add_waive(CLI::App& app, WaiveCommand& command) {
    folder_option(app, "folder", command.folder, "folder of a report in which the test is bad");
    app.add_option("id", command.id, "id of the test with its parameters")->required();
}

int waive_command(const WaiveCommand& command) {
    const Model model = read_model(command.folder, compiled_in());
    const auto found = std::find_if(model.tests.begin(), model.tests.end(),
                                    [&](const TestResult& test) { return test.id == command.id; });
    if (found == model.tests.end() || !found->is_bad()) {
        std::cerr << "hal-conformance: " << command.id
                  << (found == model.tests.end() ? " is not in this report\n"
                                                 : " is not bad in this report: nothing to waive\n");
        return exit_usage;
    }
    std::cout << waiver_skeleton(*found, model.facts ? model.facts->identity : Identity{}, today());
    return exit_good;
}

// ---- run ----

void add_run_report(CLI::App& app, RunReport& words) {
    app.add_option("--waivers", words.waivers, "faults that somebody answers for (TOML)")->check(CLI::ExistingFile);
    app.add_flag("--waivers-ok", words.waivers_ok, "a run with waived failures only is exit 0, not 7");
    app.add_option("--selftest", words.selftest, "what selftest --out wrote, to keep with the report")
        ->check(CLI::ExistingFile);
    add_formats(app, words.formats);
    add_language(app, words.language);
}

Evidence evidence_of(const RunReport& words) {
    Evidence evidence;
    if (!words.waivers.empty()) {
        evidence.waivers = read_waivers(words.waivers);
        std::string faults;
        for (const std::string& fault : waiver_faults(evidence.waivers, today(), compiled_in().ids())) {
            faults += (faults.empty() ? "" : "\n") + words.waivers + ": " + fault;
        }
        if (!faults.empty()) {
            throw WaiverError(faults);
        }
    }
    if (!words.selftest.empty()) {
        evidence.power = read_power(words.selftest);
    }
    return evidence;
}

int report_run(const Log& log, const fs::path& folder, const Evidence& evidence, const RunReport& words, bool quiet) {
    const Model model = build(log, compiled_in(), evidence);
    if (!folder.empty()) {
        write_folder(folder, model, chosen(words.formats));
    }
    print_summary(std::cout, model, terminal_style(words.language, quiet));
    return model.exit_code();
}

// ---- all ----

ReportCommands::ReportCommands(CLI::App& app)
    : report_app_(app.add_subcommand("report", "write the files of a report again from its log")),
      verify_app_(app.add_subcommand("verify", "is a report what its log says? recomputes everything")),
      diff_app_(app.add_subcommand("diff", "what changed between two reports")),
      merge_app_(app.add_subcommand("merge", "join the shards of a run")),
      waive_app_(app.add_subcommand("waive", "print a waiver to fill in for a bad test")),
      show_app_(app.add_subcommand("show", "what a case asserts, by which clauses, and whom it catches")) {
    add_report(*report_app_, report_);
    add_verify(*verify_app_, verify_);
    add_diff(*diff_app_, diff_);
    add_merge(*merge_app_, merge_);
    add_waive(*waive_app_, waive_);
    add_show(*show_app_, show_);
}

std::optional<int> ReportCommands::run() const {
    try {
        return chosen_command();
    } catch (const WriteError& error) {
        return refused(exit_harness, error);
    } catch (const LogError& error) {
        return refused(exit_usage, error);
    } catch (const WaiverError& error) {
        return refused(exit_usage, error);
    }
}

std::optional<int> ReportCommands::chosen_command() const {
    if (report_app_->parsed()) {
        return report_command(report_);
    }
    if (verify_app_->parsed()) {
        return verify_command(verify_);
    }
    if (diff_app_->parsed()) {
        return diff_command(diff_);
    }
    if (merge_app_->parsed()) {
        return merge_command(merge_);
    }
    if (waive_app_->parsed()) {
        return waive_command(waive_);
    }
    return show_app_->parsed() ? std::optional(show_command(show_)) : std::nullopt;
}

}  // namespace hal::conformance

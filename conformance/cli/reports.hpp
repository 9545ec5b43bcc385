// The commands that work on reports: report, verify, diff, merge, waive, show. Each has the words it takes, a function
// that describes them to the command line, and one that does it and returns the exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "report/text.hpp"

namespace hal::conformance {

struct ReportCommand {
    std::string folder;
    std::string formats;  // empty: the default ones
    std::string language = "en";
    bool quiet = false;
};
void add_report(CLI::App& app, ReportCommand& command);
[[nodiscard]] int report_command(const ReportCommand& command);

struct VerifyCommand {
    std::string folder;
};
void add_verify(CLI::App& app, VerifyCommand& command);
[[nodiscard]] int verify_command(const VerifyCommand& command);

struct DiffCommand {
    std::string before, after;
};
void add_diff(CLI::App& app, DiffCommand& command);
[[nodiscard]] int diff_command(const DiffCommand& command);

struct MergeCommand {
    std::vector<std::string> folders;
    std::string out;
};
void add_merge(CLI::App& app, MergeCommand& command);
[[nodiscard]] int merge_command(const MergeCommand& command);

struct WaiveCommand {
    std::string folder;
    std::string id;
};
void add_waive(CLI::App& app, WaiveCommand& command);
[[nodiscard]] int waive_command(const WaiveCommand& command);

struct ShowCommand {
    std::string id;
};
void add_show(CLI::App& app, ShowCommand& command);
[[nodiscard]] int show_command(const ShowCommand& command);

// All six, so that the main program has three lines of them.
class ReportCommands {
  public:
    explicit ReportCommands(CLI::App& app);
    // The exit status, if the command line named one of them.
    [[nodiscard]] std::optional<int> run() const;

  private:
    [[nodiscard]] std::optional<int> chosen_command() const;

    ReportCommand report_;
    VerifyCommand verify_;
    DiffCommand diff_;
    MergeCommand merge_;
    WaiveCommand waive_;
    ShowCommand show_;
    CLI::App *report_app_, *verify_app_, *diff_app_, *merge_app_, *waive_app_, *show_app_;
};

// What `run` does with its log once it is complete: a folder, and the summary.
struct RunReport {
    std::string waivers;   // file
    std::string selftest;  // file that `selftest --out` wrote
    std::string formats, language = "en";
    bool waivers_ok = false;
};
void add_run_report(CLI::App& app, RunReport& words);
// Before the run, so that a bad file of waivers costs no time. Throws WaiverError, LogError.
[[nodiscard]] Evidence evidence_of(const RunReport& words);
// Prints the summary, writes the folder unless it is empty, and returns the exit status of the run.
[[nodiscard]] int report_run(const Log& log, const std::filesystem::path& folder, const Evidence& evidence,
                             const RunReport& words, bool quiet);

}  // namespace hal::conformance

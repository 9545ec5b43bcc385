// Prints the tables of the contract as text, Markdown, JSON or an ABI lock, and checks a lock.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <fstream>
#include <sstream>

#include "check_lock.hpp"
#include "print.hpp"

namespace {

constexpr int broken = 1;
constexpr int unusable = 2;

int check_lock(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream old_lock;
    if (!file || !(old_lock << file.rdbuf())) {
        fmt::print(stderr, "{}: cannot be read, or is empty; give a file that hal-tables --lock printed\n", path);
        return unusable;
    }
    const auto sentences = hal::tool::broken_lines(old_lock.str(), hal::tool::lock(), path);
    for (const auto& sentence : sentences) {
        fmt::print(stderr, "{}\n", sentence);
    }
    return sentences.empty() ? 0 : broken;
}

int run(int argc, char** argv) {
    CLI::App app("Prints the tables of the HAL. Without an option: a line for each table, and the totals.",
                 "hal-tables");
    bool markdown = false;
    bool json = false;
    bool lock = false;
    std::string lock_file;
    auto* choice = app.add_option_group("form");
    choice->add_flag("--markdown", markdown, "hal/TABLES.md");
    choice->add_flag("--json", json, "JSON, by schemas/tables-1.json");
    choice->add_flag("--lock", lock, "hal/abi.lock: what must not change");
    choice->add_option("--check-lock", lock_file, "is this lock kept? Exit code 1 and the broken lines if not");
    choice->require_option(0, 1);
    CLI11_PARSE(app, argc, argv);
    if (!lock_file.empty()) {
        return check_lock(lock_file);
    }
    fmt::print("{}", markdown ? hal::tool::markdown()
                     : json   ? hal::tool::json()
                     : lock   ? hal::tool::lock()
                              : hal::tool::summary());
    return std::fflush(stdout) == 0 ? 0 : unusable;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "hal-tables: {}\n", error.what());
        return unusable;
    }
}

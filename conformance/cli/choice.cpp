#include "choice.hpp"

#include <fstream>
#include <iostream>

namespace hal::conformance {
namespace {

// One id a line; '#' begins a comment.
std::vector<std::string> ids_in(const std::string& file) {
    std::ifstream opened;
    if (file != "-") {
        opened.open(file);
        if (!opened) {
            throw CLI::ValidationError("--caselist", "cannot read " + file);
        }
    }
    std::istream& stream = file == "-" ? std::cin : opened;
    std::vector<std::string> ids;
    for (std::string line; std::getline(stream, line);) {
        line.erase(std::min(line.find_first_of("# \t\r"), line.size()));
        if (!line.empty()) {
            ids.push_back(line);
        }
    }
    if (ids.empty()) {
        throw CLI::ValidationError("--caselist", file + " names no case");
    }
    return ids;
}

void take_shard(Choice& choice, const std::string& text) {
    uint32_t shard = 0;
    uint32_t shards = 0;
    char slash = 0;
    std::istringstream words(text);
    if (!(words >> shard >> slash >> shards) || slash != '/' || shard == 0 || shard > shards || words.peek() != EOF) {
        throw CLI::ValidationError("--shard", "wants i/n with 1 <= i <= n, got " + text);
    }
    choice.shard = shard - 1;
    choice.shards = shards;
}

CLI::Option* add_list(CLI::App& app, const char* name, std::vector<std::string>& to, const char* what) {
    return app.add_option(name, to, what)->allow_extra_args(false);
}

}  // namespace

void add_choice(CLI::App& app, Choice& choice) {
    add_list(app, "--filter", choice.filters, "cases whose id matches; * and ?; may be repeated");
    add_list(app, "--exclude", choice.excludes, "leave out what matches; may be repeated");
    add_list(app, "--exact", choice.exact, "the case of this id; may be repeated");
    add_list(app, "--clause", choice.clauses, "cases that cite a clause which begins so: 45079/T2");
    add_list(app, "--category", choice.categories,
             "sig, norm, edge, err, order, conc, life, leak, fault, stress, num, env")
        ->delimiter(',');
    add_list(app, "--needs", choice.needs, "cases that need this of the plug-in, as `list` says it: \"a gate\"");
    add_list(app, "--authority", choice.authorities, "S standard, D follows from it, A our ABI, Q quality")
        ->delimiter(',')
        ->check(CLI::IsMember({"S", "D", "A", "Q"}));
    app.add_option_function<std::string>(
        "--caselist",
        [&choice](const std::string& file) {
            const auto ids = ids_in(file);
            choice.exact.insert(choice.exact.end(), ids.begin(), ids.end());
        },
        "file of ids, one a line; - is standard input");
    app.add_option_function<std::string>(
           "--max-class", [&choice](const std::string& text) { choice.max_class = class_of(text); },
           "leave out slower cases: fast, medium, long")
        ->check(CLI::IsMember({"fast", "medium", "long"}));
    app.add_flag("--quick", choice.quick, "one point of its parameters for each case, no long ones");
    app.add_flag("--few-ranks", choice.few_ranks, "each case of ranks with one number of them");
    app.add_option_function<std::string>(
        "--shard", [&choice](const std::string& text) { take_shard(choice, text); }, "the i-th of n parts: i/n");
}

}  // namespace hal::conformance

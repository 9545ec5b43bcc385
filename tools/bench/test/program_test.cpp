#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "process.hpp"
#include "schema.hpp"

using namespace hal::bench;

namespace {

ChildResult bench(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HAL_BENCH);
    return run_child(arguments, Output::capture);
}

// A file name of this process; removed with the object.
struct Scratch {
    std::filesystem::path path;
    explicit Scratch(const std::string& suffix)
        : path(std::filesystem::temp_directory_path() / ("hal-bench-test-" + std::to_string(getpid()) + suffix)) {}
    ~Scratch() { std::filesystem::remove(path); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};

}  // namespace

TEST_CASE("a quick run of dispatch works and writes valid JSON and CSV") {
    const Scratch json(".json");
    const Scratch csv(".csv");
    const auto result =
        bench({"--quick", "--group", "dispatch", "--json", json.path.string(), "--csv", csv.path.string()});
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    CHECK(result.output.find("dispatch/inline") != std::string::npos);

    std::ifstream json_file(json.path);
    const auto document = nlohmann::json::parse(json_file);
    CHECK_THAT(schema_violations(document), Catch::Equals(""));
    CHECK(document["rows"].size() == 5);
    for (const auto& row : document["rows"]) {
        INFO(row.dump());
        REQUIRE_FALSE(row["ours"].is_null());
        CHECK(row["ours"]["samples"].size() == 7);
    }

    std::ifstream csv_file(csv.path);
    size_t lines = 0;
    for (std::string line; std::getline(csv_file, line);) {
        ++lines;
    }
    CHECK(lines == document["rows"].size() + 1);
}

TEST_CASE("a quick run of collectives gives right results, a table and a plot") {
    const Scratch plot(".svg");
    const auto result = bench({"--quick", "--repetitions", "2", "--filter", "xccl/r2-", "--manifest",
                               HAL_BENCH_MANIFEST, "--plot", plot.path.string()});
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    CHECK(result.output.find("collectives of float") != std::string::npos);
    CHECK(result.output.find(" skipped") == std::string::npos);
    CHECK(std::filesystem::file_size(plot.path) > 0);
}

TEST_CASE("--list measures nothing and names every group") {
    const auto result = bench({"--list"});
    REQUIRE(result.exit_code == 0);
    for (const char* name : {"dispatch: ", "memory: ", "start-up: ", "streams: ", "streams/idle-cpu",
                             "xccl: ", "xccl/r4-all_reduce-64MiB"}) {
        CHECK(result.output.find(name) != std::string::npos);
    }
}

TEST_CASE("a filter chooses rows") {
    const auto result = bench({"--list", "--filter", "kernel-find"});
    CHECK(result.exit_code == 0);
    CHECK(result.output.find("dispatch/kernel-find") != std::string::npos);
    CHECK(result.output.find("dispatch/inline") == std::string::npos);
}

TEST_CASE("bad input is refused with exit code 1 and a reason") {
    const auto [arguments, reason] = GENERATE(table<std::vector<std::string>, std::string>(
        {{{"--group", "dispatsh"}, "no group dispatsh; there are dispatch, memory, opencl, start-up, streams, xccl"},
         {{"--filter", "nothing-like-this"}, "no row contains nothing-like-this"},
         {{"--repetitions", "0"}, "--repetitions"},
         {{"--frobnicate"}, "--frobnicate"},
         {{"--quick", "--filter", "dispatch/inline", "--json", "/nonexistent/out.json"},
          "cannot write /nonexistent/out.json"},
         {{"--quick", "--filter", "memory/h2d-4KiB", "--backend", "no.such", "--manifest", "/nonexistent"},
          "no.such"}}));
    const auto result = bench(arguments);
    INFO(result.output);
    CHECK(result.exit_code == 1);
    CHECK(result.output.find(reason) != std::string::npos);
}

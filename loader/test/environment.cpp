#include "environment.hpp"

#include <catch2/catch.hpp>

#include "hal/loader.h"
#include "scratch.hpp"

using namespace hal::loader;
using namespace hal::loader::test;

namespace {

const VariableReport& report_of(const Environment& environment, std::string_view name) {
    for (const VariableReport& report : environment.report()) {
        if (report.name == name) {
            return report;
        }
    }
    throw std::runtime_error("no report of " + std::string(name));
}

}  // namespace

TEST_CASE("a variable is used, unset or empty") {
    const Environment environment({.variables = {{"HAL_BACKEND_FILES", "/a"}, {"HAL_STRICT", "1"}, {"HAL_LOG", ""}}});
    CHECK(environment.get("HAL_BACKEND_FILES") == "/a");
    CHECK(environment.flag("HAL_STRICT"));
    CHECK_FALSE(environment.flag("HAL_NO_EMULATION"));
    CHECK_FALSE(environment.get("HAL_LOG"));
    CHECK_FALSE(environment.get("PATH"));
    CHECK(report_of(environment, "HAL_BACKEND_FILES").use == HAL_VARIABLE_USED);
    CHECK(report_of(environment, "HAL_BACKEND_FILES").value == "/a");
    CHECK(report_of(environment, "HAL_LOG").use == HAL_VARIABLE_UNSET);
    CHECK(environment.warnings().empty());
}

TEST_CASE("elevated privileges: everything but the log level is ignored, in one line") {
    Process process{.variables = {{"HAL_LOG", "debug"}}, .elevated = true};
    const Environment names_of_all{Process{}};
    size_t ignored = 0;
    for (const VariableReport& report : names_of_all.report()) {
        process.variables[report.name] = report.name == "HAL_LOG" ? "debug" : "/evil";
        ignored += report.name == "HAL_LOG" ? 0 : 1;
    }
    const Environment environment(process);
    REQUIRE(ignored > 20);
    size_t reported = 0;
    for (const VariableReport& report : environment.report()) {
        INFO(report.name);
        CHECK(environment.get(report.name).has_value() == (report.name == "HAL_LOG"));
        reported += report.use == HAL_VARIABLE_IGNORED ? 1 : 0;
    }
    CHECK(reported == ignored);
    REQUIRE(environment.warnings().size() == 1);
    CHECK(environment.warnings().front().find("L002 running with elevated privileges: ignoring HAL_BACKEND_FILES, ") ==
          0);
    CHECK(environment.warnings().front().find("XDG_DATA_DIRS") != std::string::npos);
    CHECK_FALSE(environment.backend_option("a", "b"));
}

TEST_CASE("unknown variables are named with the nearest known one, vendors' are free") {
    const Environment environment(
        {.variables = {{"HAL_BACKEND_FILE", "/a"}, {"HAL_X_ACME", "1"}, {"HAL_QQQQQQQQQQQQ", "1"}}});
    REQUIRE(environment.warnings().size() == 2);
    CHECK(environment.warnings()[0].find("L003 unknown variable HAL_BACKEND_FILE; did you mean HAL_BACKEND_FILES") ==
          0);
    CHECK(environment.warnings()[1] == "L003 unknown variable HAL_QQQQQQQQQQQQ");
    CHECK(report_of(environment, "HAL_BACKEND_FILE").use == HAL_VARIABLE_UNKNOWN);
}

TEST_CASE("a variable of a part that this version lacks does not look as if it worked") {
    const Environment environment({.variables = {{"HAL_LAYERS", "trace"}}});
    REQUIRE(environment.warnings().size() == 1);
    CHECK(environment.warnings()[0].find("L003 HAL_LAYERS has no effect") == 0);
}

TEST_CASE("options of backends") {
    const Environment environment(
        {.variables = {
             {"HAL_BACKEND_OPTIONS", "cpu.ref:devices=4; cpu.ref:path=a=b:c ;acme:x=;broken;:a=b;c:=d;e=f:g"}}});
    CHECK(environment.backend_option("cpu.ref", "devices") == "4");
    CHECK(environment.backend_option("cpu.ref", "path") == "a=b:c");
    CHECK(environment.backend_option("acme", "x") == "");
    CHECK_FALSE(environment.backend_option("acme", "y"));
    CHECK_FALSE(environment.backend_option("none", "x"));
    REQUIRE(environment.warnings().size() == 4);
    CHECK(environment.warnings()[0] == "L003 HAL_BACKEND_OPTIONS: 'broken' is ignored, it is not id:key=value");
}

TEST_CASE("the process' own variables are read unless the application forbids it") {
    REQUIRE(setenv("HAL_X_LOADER_TEST", "seen", 1) == 0);
    CHECK(read_process().variables.at("HAL_X_LOADER_TEST") == "seen");
    CHECK(read_process().variables.count("PATH") == 0);
    CHECK(read_process(HAL_LOADER_NO_ENVIRONMENT).variables.empty());
    unsetenv("HAL_X_LOADER_TEST");
}

TEST_CASE("log levels and subjects, file") {
    const Scratch scratch;
    const std::string file = scratch.path("log");
    const auto logged = [&](const std::string& setting, bool elevated = false) {
        std::filesystem::remove(file);
        // Elevated, the file is ignored as well: then nothing may reach it.
        const Environment environment(
            {.variables = {{"HAL_LOG", setting}, {"HAL_LOG_FILE", file}}, .elevated = elevated});
        Recorder silent;  // keeps stderr clean
        Log log(environment, silent.settings);
        log.error("E!");
        log.warn("W!");
        log.info("I!");
        log.debug(Subject::search, "S!");
        log.debug(Subject::load, "L!");
        std::ifstream stream(file);
        const std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
        std::string seen;
        for (const char letter : {'E', 'W', 'I', 'S', 'L'}) {
            seen += text.find(std::string(1, letter) + "!\n") != std::string::npos ? std::string(1, letter) : "";
        }
        return seen;
    };
    CHECK(logged("") == "EW");
    CHECK(logged("error") == "E");
    CHECK(logged("info") == "EWI");
    CHECK(logged("debug") == "EWISL");
    CHECK(logged("all") == "EWISL");
    CHECK(logged("search") == "EWS");
    CHECK(logged("error, load") == "EL");
    CHECK(logged("debug", true).empty());
}

TEST_CASE("the application's function gets every message; what is odd about the log is said") {
    const Scratch scratch;
    Recorder recorder;
    const Environment environment(
        {.variables = {{"HAL_LOG", "errro"}, {"HAL_LOG_FILE", "relative"}, {"HAL_LGO", "1"}}});
    Log log(environment, recorder.settings);
    log.debug(Subject::probe, "detail");
    log.write(77, "odd level");
    log.write(0, "no level");
    CHECK(recorder.count(HAL_LOG_DEBUG, "detail") == 1);
    CHECK(recorder.count(HAL_LOG_DEBUG, "odd level") == 1);
    CHECK(recorder.count(HAL_LOG_ERROR, "no level") == 1);
    CHECK(recorder.count(HAL_LOG_WARN, "HAL_LOG: unknown word 'errro'; did you mean error?") == 1);
    CHECK(recorder.count(HAL_LOG_WARN, "HAL_LOG_FILE: relative: not an absolute path") == 1);
    CHECK(recorder.count(HAL_LOG_WARN, "L003 unknown variable HAL_LGO; did you mean HAL_LOG?") == 1);
    CHECK_FALSE(std::filesystem::exists("relative"));
}

TEST_CASE("a log file that nobody reads does not hang the loader") {
    const Scratch scratch;
    REQUIRE(mkfifo(scratch.path("fifo").c_str(), 0600) == 0);
    Recorder recorder;
    const Environment environment({.variables = {{"HAL_LOG_FILE", scratch.path("fifo")}}});
    Log log(environment, recorder.settings);
    CHECK(recorder.count(HAL_LOG_WARN, "HAL_LOG_FILE: ") == 1);
}

TEST_CASE("text of strangers is made safe for a terminal") {
    CHECK(printable("plain gr\xc3\xbcn \xe4\xb8\xad\xf0\x9f\x98\x80") ==
          "plain gr\xc3\xbcn \xe4\xb8\xad\xf0\x9f\x98\x80");
    CHECK(printable("\x1b[31mred\n") == "\\x1b[31mred\\x0a");
    CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
    CHECK(printable("\xff\xc3") == "\\xff\\xc3");
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // overlong
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // surrogate
    CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");           // C1 control
    CHECK(printable("a\xe2\x80\xae"
                    "b") ==
          "a\\xe2\\x80\\xae"
          "b");  // right-to-left override
    CHECK(printable("\x7f") == "\\x7f");
    CHECK(printable(std::string(300, 'x')) == std::string(256, 'x') + "...");
    CHECK(printable("ab\xc3\xbc", 3) == "ab...");  // never half a character
    CHECK(printable("").empty());
}

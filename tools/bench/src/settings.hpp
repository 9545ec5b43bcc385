// How a run is done; from the command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace hal::bench {

struct Settings {
    std::string backend = "cpu.ref";
    std::vector<std::string> manifests;  // empty: the loader's own search
    bool quick = false;
    bool instructions = false;  // count instructions of the dispatch paths under callgrind
    int repetitions = 11;
    int retries = 1;             // further tries for a row of a contaminated run
    double wait_quiet_s = 0;     // how long to wait for an idle machine before a row
    double batch_s = 0.010;      // aim of one repetition of a short call
    std::filesystem::path json;  // empty: not written
    std::filesystem::path csv;
    std::filesystem::path plot;       // of the collectives
    std::vector<std::string> groups;  // empty: all
    std::string filter;               // part of a row's name
};

}  // namespace hal::bench

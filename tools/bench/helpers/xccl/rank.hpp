// One rank process: takes commands from hal-bench and answers how long its loop took. src/xccl/team.hpp is the other
// end.
//
// The directory of the team holds two named pipes a rank, command.<rank> and answer.<rank>, and is where ranks find
// each other. Between commands a rank sleeps in read, so that the side that is not measured takes no core.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport.hpp"

namespace hal::bench::xccl {

// The command line of a helper: DIRECTORY RANKS HOSTS RANK [more]. A launcher that numbers the ranks itself gives RANK
// as
// "-".
struct RankArguments {
    std::filesystem::path directory;
    int ranks = 0;
    int hosts = 1;
    int rank = -1;
    std::vector<std::string> more;
};

// Makes the transport, reports what that gave, and obeys until the command pipe ends. Returns the exit code.
int serve(const RankArguments& arguments, const std::function<std::unique_ptr<Transport>()>& make);

// The main of a rank program: `body` with what the command line says. Whatever is thrown goes to standard error under
// the program's name.
int run_rank(const char* program, int argc, char** argv, const std::function<int(const RankArguments&)>& body);

// The same for a library whose transport is made from the command line.
template <class Made>
int run_rank(const char* program, int argc, char** argv) {
    return run_rank(program, argc, argv, [](const RankArguments& arguments) {
        return serve(arguments, [&] { return std::make_unique<Made>(arguments); });
    });
}

// Files in the directory of the team, by which ranks tell each other something once. read_shared waits for the file.
void write_shared(const std::filesystem::path& path, const std::string& content);
[[nodiscard]] std::string read_shared(const std::filesystem::path& path);

}  // namespace hal::bench::xccl

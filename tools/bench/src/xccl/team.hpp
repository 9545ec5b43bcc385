// The processes of one library of collectives, a rank each, and their pipes. helpers/xccl/rank.hpp is the other end.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "descriptor.hpp"
#include "process.hpp"
#include "scratch_directory.hpp"
#include "xccl/command.hpp"

namespace hal::bench::xccl {

enum class Library { hal, open_mpi, gloo, limit };

[[nodiscard]] std::string_view name(Library library);

// Both pipes of a rank, open for both directions: opening waits for nobody, and a rank that dies breaks no pipe.
class RankPipes {
  public:
    RankPipes(const std::filesystem::path& team, int rank);

    void write_line(const std::string& line) const;

    // A line if one comes within some milliseconds and before one of the interrupts is ready to read, else an empty
    // text.
    [[nodiscard]] std::string poll_line(int milliseconds, const std::vector<int>& interrupts = {});

  private:
    Descriptor command_;
    Descriptor answer_;
    std::string unread_;
};

// Started with the object, ended with it. Both members throw Unavailable if the library is not here or lacks what it is
// told to do, and std::runtime_error with what the processes printed if they fail; a team that failed is of no more
// use.
class Team {
  public:
    Team(Library library, int ranks, int hosts, const std::vector<std::string>& more_arguments);
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Nanoseconds of the slowest rank for all iterations. A wrong element on any rank is a failure.
    [[nodiscard]] double run(const Command& command);

  private:
    void start(const std::vector<std::string>& more_arguments);
    [[nodiscard]] std::string answer_of(size_t rank);
    [[nodiscard]] std::string printed();
    void stop_waiting();
    [[noreturn]] void fail(const std::string& reason);
    [[noreturn]] void fail_with_last_words();

    Library library_;
    int ranks_;
    int hosts_;
    // They end from the last to the first: a rank whose pipe closes ends by itself, and only then is waited for.
    ScratchDirectory directory_;
    std::ifstream output_;  // what the processes print
    std::vector<std::unique_ptr<Companion>> processes_;
    std::vector<std::unique_ptr<RankPipes>> pipes_;
};

}  // namespace hal::bench::xccl

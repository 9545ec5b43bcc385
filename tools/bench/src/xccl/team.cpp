#include "xccl/team.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "benchmark.hpp"
#include "clock.hpp"
#include "paths.hpp"

namespace hal::bench::xccl {
namespace {

namespace fs = std::filesystem;

// Longer than any loop of a slow machine; a team that takes it hangs.
constexpr int64_t answer_limit_ns = INT64_C(30'000'000'000);

// How long a rank may take to say its last once another has ended.
constexpr int last_words_ms = 1000;

// How long processes may take to end by themselves once their pipes are closed.
constexpr std::chrono::milliseconds patience{3000};

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

Descriptor make_pipe(const fs::path& path) {
    if (mkfifo(path.c_str(), 0600) != 0) {
        throw_errno(path.string());
    }
    Descriptor descriptor(open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!descriptor) {
        throw_errno(path.string());
    }
    return descriptor;
}

std::string_view helper(Library library) {
    switch (library) {
        case Library::hal:
            return "hal-bench-xccl-hal";
        case Library::open_mpi:
            return "hal-bench-xccl-mpi";
        case Library::gloo:
            return "hal-bench-xccl-gloo";
        case Library::limit:
            return "hal-bench-xccl-limit";
    }
    return {};
}

std::vector<std::string> mpirun(int ranks) {
    return {"mpirun", "-np", std::to_string(ranks), "--oversubscribe", "--allow-run-as-root", "--bind-to", "none",
            "--mca",  "btl", "self,vader"};
}

void throw_if_unavailable(const std::string& answer) {
    if (answer.starts_with("unavailable ")) {
        throw Unavailable(answer.substr(answer.find(' ') + 1));
    }
}

}  // namespace

std::string_view name(Library library) {
    switch (library) {
        case Library::hal:
            return "HAL";
        case Library::open_mpi:
            return "Open MPI";
        case Library::gloo:
            return "Gloo over TCP";
        case Library::limit:
            return "shared memory limit";
    }
    return {};
}

RankPipes::RankPipes(const fs::path& team, int rank)
    : command_(make_pipe(command_pipe(team, rank))), answer_(make_pipe(answer_pipe(team, rank))) {}

void RankPipes::write_line(const std::string& line) const {
    const std::string text = line + "\n";
    if (write(command_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw_errno("command pipe");
    }
}

std::string RankPipes::poll_line(int milliseconds, const std::vector<int>& interrupts) {
    std::vector<pollfd> ready{{answer_.get(), POLLIN, 0}};
    for (const int interrupt : interrupts) {
        ready.push_back({interrupt, POLLIN, 0});
    }
    std::array<char, 4096> block;
    if (unread_.find('\n') == std::string::npos && poll(ready.data(), ready.size(), milliseconds) > 0 &&
        ready[0].revents != 0) {
        const ssize_t count = read(answer_.get(), block.data(), block.size());
        unread_.append(block.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
    }
    const size_t end = unread_.find('\n');
    if (end == std::string::npos) {
        return {};
    }
    std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

Team::Team(Library library, int ranks, int hosts, const std::vector<std::string>& more_arguments)
    : library_(library), ranks_(ranks), hosts_(hosts) {
    if (!fs::exists(parts_directory() / helper(library))) {
        throw Unavailable(fmt::format("{} was not there when hal-bench was built", name(library)));
    }
    for (int rank = 0; rank < ranks; ++rank) {
        pipes_.push_back(std::make_unique<RankPipes>(directory_.path(), rank));
    }
    start(more_arguments);
    for (size_t rank = 0; rank < pipes_.size(); ++rank) {
        const std::string answer = answer_of(rank);
        if (answer != "ready") {
            stop_waiting();  // others may not have opened their pipes yet, and then do so for ever
            throw_if_unavailable(answer);
            fail(fmt::format("unexpected answer {}", answer));
        }
    }
    // Everybody has opened what is in it, so that even a benchmark that is killed leaves nothing behind.
    directory_.remove();
}

void Team::start(const std::vector<std::string>& more_arguments) {
    const fs::path output = directory_.path() / "output";
    const bool by_mpirun = library_ == Library::open_mpi;
    for (int process = 0; process < (by_mpirun ? 1 : ranks_); ++process) {
        std::vector<std::string> arguments = by_mpirun ? mpirun(ranks_) : std::vector<std::string>();
        arguments.insert(arguments.end(),
                         {(parts_directory() / helper(library_)).string(), directory_.path().string(),
                          std::to_string(ranks_), std::to_string(hosts_), by_mpirun ? "-" : std::to_string(process)});
        arguments.insert(arguments.end(), more_arguments.begin(), more_arguments.end());
        try {
            processes_.push_back(std::make_unique<Companion>(arguments, output, patience));
        } catch (const std::system_error& failure) {
            throw Unavailable(failure.what());
        }
    }
    output_.open(output);
}

double Team::run(const Command& command) {
    for (const auto& pipe : pipes_) {
        pipe->write_line(text(command));
    }
    std::vector<std::string> answers;
    for (size_t rank = 0; rank < pipes_.size(); ++rank) {
        answers.push_back(answer_of(rank));
    }
    double slowest = 0;
    for (size_t rank = 0; rank < answers.size(); ++rank) {
        const std::string& answer = answers[rank];
        throw_if_unavailable(answer);
        double took = 0;
        uint64_t wrong = 0;
        if (std::sscanf(answer.c_str(), "took %lf %lu", &took, &wrong) != 2) {  // NOLINT(cert-err34-c): our own text
            fail(fmt::format("unexpected answer {}", answer));
        }
        if (wrong != 0) {
            fail(fmt::format("{} elements are wrong on rank {}", wrong, rank));
        }
        slowest = std::max(slowest, took);
    }
    return slowest;
}

std::string Team::answer_of(size_t rank) {
    const int64_t deadline = clock_ns() + answer_limit_ns;
    std::vector<int> ends;
    for (const auto& process : processes_) {
        ends.push_back(process->end());
    }
    for (int64_t left_ns = answer_limit_ns; left_ns > 0; left_ns = deadline - clock_ns()) {
        std::string answer = pipes_[rank]->poll_line(static_cast<int>(left_ns / 1'000'000), ends);
        const bool all_run =
            std::all_of(processes_.begin(), processes_.end(), [](const auto& process) { return process->running(); });
        // Once a rank has ended the others end too, of the same reason, or wait for it for ever.
        if (answer.empty() && !all_run) {
            answer = pipes_[rank]->poll_line(last_words_ms);
        }
        if (answer.starts_with("failed ")) {
            fail(answer.substr(answer.find(' ') + 1));
        }
        if (!answer.empty()) {
            return answer;
        }
        if (!all_run) {
            fail_with_last_words();
        }
    }
    fail("a rank does not answer");
}

void Team::fail_with_last_words() {
    stop_waiting();
    for (const auto& pipe : pipes_) {
        for (std::string line = pipe->poll_line(0); !line.empty(); line = pipe->poll_line(0)) {
            throw_if_unavailable(line);
            if (line.starts_with("failed ")) {
                fail(line.substr(line.find(' ') + 1));
            }
        }
    }
    fail("a rank has ended");
}

std::string Team::printed() {
    output_.clear();  // it may have been read to its end before
    output_.seekg(0);
    std::string text{std::istreambuf_iterator<char>(output_), {}};
    constexpr size_t enough = 600;
    return text.size() > enough ? "..." + text.substr(text.size() - enough) : text;
}

// The others may spin for the one that failed.
void Team::stop_waiting() {
    for (const auto& process : processes_) {
        process->stop_waiting();
    }
}

void Team::fail(const std::string& reason) {
    stop_waiting();
    const std::string output = printed();
    throw std::runtime_error(
        fmt::format("{}: {}{}{}", name(library_), reason, output.empty() ? "" : "; printed: ", output));
}

}  // namespace hal::bench::xccl

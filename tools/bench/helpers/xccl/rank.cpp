#include "rank.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "benchmark.hpp"
#include "clock.hpp"
#include "descriptor.hpp"
#include "pattern.hpp"
#include "xccl/command.hpp"

namespace hal::bench::xccl {
namespace {

// Buffers are written and read in pieces, so that a rank needs no third buffer of their size.
constexpr uint64_t piece = 1 << 18;

template <class F>
void in_pieces(uint64_t count, F f) {
    std::vector<float> chunk(std::min(count, piece));
    for (uint64_t first = 0; first < count; first += piece) {
        f(first, std::span(chunk).first(std::min(piece, count - first)));
    }
}

// One answer is one line, whatever a library's message contains.
std::string line_of(std::string_view kind, std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return fmt::format("{} {}", kind, text);
}

class Server {
  public:
    Server(int rank, Transport& transport) : rank_(rank), transport_(transport) {}

    // A collective that the library lacks is no reason to end: it lacks it on every rank.
    std::string answer(const Command& command) {
        try {
            return obey(command);
        } catch (const Unavailable& missing) {
            return line_of("unavailable", missing.what());
        }
    }

  private:
    std::string obey(const Command& command) {
        const Collective& collective = command.collective;
        if (!(collective == reserved_)) {
            transport_.reserve(collective);
            reserved_ = collective;
            write_input(collective.send_count(), &Transport::write_send);
        }
        // What an earlier loop left must not pass for a result.
        if (collective.operation == Operation::broadcast && rank_ == 0) {
            write_input(collective.receive_count(), &Transport::write_receive);
        } else {
            in_pieces(collective.receive_count(), [&](uint64_t first, std::span<float> chunk) {
                fill_poison(chunk);
                transport_.write_receive(first, chunk);
            });
        }
        transport_.barrier();
        if (command.warm_up != 0) {
            transport_.run(collective, command.warm_up, command.wait_each);
        }
        const int64_t took = timed([&] { transport_.run(collective, command.iterations, command.wait_each); });
        uint64_t wrong = 0;
        in_pieces(collective.receive_count(), [&](uint64_t first, std::span<float> chunk) {
            transport_.read_receive(first, chunk);
            wrong += count_wrong(chunk, first, collective, rank_);
        });
        return fmt::format("took {} {}", took, wrong);
    }

    void write_input(uint64_t count, void (Transport::*write)(uint64_t, std::span<const float>)) {
        in_pieces(count, [&](uint64_t first, std::span<float> chunk) {
            fill_input(chunk, first, rank_);
            (transport_.*write)(first, chunk);
        });
    }

    int rank_;
    Transport& transport_;
    Collective reserved_;
};

RankArguments parse_arguments(int argc, char** argv) {
    if (argc < 5) {
        throw std::invalid_argument("usage: DIRECTORY RANKS HOSTS RANK [more]; hal-bench starts this program");
    }
    RankArguments arguments{argv[1], std::stoi(argv[2]), std::stoi(argv[3]), -1, {argv + 5, argv + argc}};
    if (std::string_view(argv[4]) != "-") {
        arguments.rank = std::stoi(argv[4]);
    }
    return arguments;
}

// write_shared renames. The benchmark ends a team that takes too long.
void wait_for_file(const std::filesystem::path& path) {
    const Descriptor renamed(inotify_init1(IN_CLOEXEC));
    if (!renamed || inotify_add_watch(renamed.get(), path.parent_path().c_str(), IN_MOVED_TO) < 0) {
        throw std::system_error(errno, std::generic_category(), path.parent_path().string());
    }
    alignas(inotify_event) std::array<char, 4096> events;
    while (!std::filesystem::exists(path)) {  // a rename after this look is an event
        if (read(renamed.get(), events.data(), events.size()) < 0 && errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), path.parent_path().string());
        }
    }
}

}  // namespace

int serve(const RankArguments& arguments, const std::function<std::unique_ptr<Transport>()>& make) {
    // A rank that spins for a peer would outlive a benchmark that was killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::ifstream commands(command_pipe(arguments.directory, arguments.rank));
    std::ofstream answers(answer_pipe(arguments.directory, arguments.rank));
    try {
        const auto transport = make();
        answers << "ready" << std::endl;
        Server server(arguments.rank, *transport);
        for (std::string line; std::getline(commands, line);) {
            answers << server.answer(parse_command(line)) << std::endl;
        }
        return 0;
    } catch (const Unavailable& missing) {
        answers << line_of("unavailable", missing.what()) << std::endl;
    } catch (const std::exception& failure) {
        answers << line_of("failed", failure.what()) << std::endl;
    }
    return 1;
}

int run_rank(const char* program, int argc, char** argv, const std::function<int(const RankArguments&)>& body) {
    try {
        return body(parse_arguments(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", program, error.what());
        return 1;
    }
}

void write_shared(const std::filesystem::path& path, const std::string& content) {
    const std::filesystem::path unfinished = path.string() + ".unfinished";
    std::ofstream file(unfinished, std::ios::binary);
    file << content;
    file.close();
    if (!file) {
        throw std::runtime_error(fmt::format("cannot write {}", unfinished.string()));
    }
    std::filesystem::rename(unfinished, path);
}

std::string read_shared(const std::filesystem::path& path) {
    wait_for_file(path);
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace hal::bench::xccl

#include "process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "clock.hpp"

namespace hal::bench {
namespace {

void require_zero(int error, const std::string& what) {
    if (error != 0) {
        throw std::system_error(error, std::generic_category(), what);
    }
}

struct Pipe {
    Descriptor out;
    Descriptor in;
};

Pipe make_pipe() {
    std::array<int, 2> end;
    if (pipe2(end.data(), O_CLOEXEC) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe2");
    }
    return {Descriptor(end[0]), Descriptor(end[1])};
}

// Owns what posix_spawn is told about descriptors.
struct Actions {
    posix_spawn_file_actions_t value;
    Actions() { require_zero(posix_spawn_file_actions_init(&value), "posix_spawn_file_actions_init"); }
    ~Actions() { posix_spawn_file_actions_destroy(&value); }
    Actions(const Actions&) = delete;
    Actions& operator=(const Actions&) = delete;
};

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> block;
    for (;;) {
        const ssize_t count = read(descriptor, block.data(), block.size());
        if (count > 0) {
            text.append(block.data(), static_cast<size_t>(count));
        } else if (count == 0 || errno != EINTR) {
            return text;
        }
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            throw std::system_error(errno, std::generic_category(), "waitpid");
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool ready_within(int descriptor, std::chrono::milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    pollfd wanted{descriptor, POLLIN, 0};
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
        if (ready >= 0 || errno != EINTR) {
            return ready > 0;
        }
    }
}

pid_t start(const std::vector<std::string>& arguments, const Actions& actions) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const auto& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    pid_t child = 0;
    require_zero(posix_spawnp(&child, argv[0], &actions.value, nullptr, argv.data(), environ), arguments[0]);
    return child;
}

}  // namespace

ChildResult run_child(const std::vector<std::string>& arguments, Output output) {
    Pipe pipe;
    Actions actions;
    if (output == Output::capture) {
        pipe = make_pipe();
        for (const int target : {STDOUT_FILENO, STDERR_FILENO}) {
            require_zero(posix_spawn_file_actions_adddup2(&actions.value, pipe.in.get(), target), "adddup2");
        }
    }

    ChildResult result;
    const int64_t started = clock_ns();
    const pid_t child = start(arguments, actions);
    pipe.in.reset();
    if (output == Output::capture) {
        result.output = read_all(pipe.out.get());
    }
    result.exit_code = wait_for(child);
    result.wall_ns = clock_ns() - started;
    return result;
}

ChildResult run_child_checked(const std::vector<std::string>& arguments, Output output) {
    auto result = run_child(arguments, output);
    if (result.exit_code != 0) {
        throw std::runtime_error(
            fmt::format("{} ended with {}: {}", fmt::join(arguments, " "), result.exit_code, result.output));
    }
    return result;
}

Companion::Companion(const std::vector<std::string>& arguments, const std::filesystem::path& output,
                     std::chrono::milliseconds patience)
    : patience_(patience) {
    Actions actions;
    require_zero(posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "addopen");
    require_zero(posix_spawn_file_actions_addopen(&actions.value, STDOUT_FILENO, output.c_str(),
                                                  O_WRONLY | O_CREAT | O_APPEND, 0600),
                 "addopen");
    require_zero(posix_spawn_file_actions_adddup2(&actions.value, STDOUT_FILENO, STDERR_FILENO), "adddup2");
    child_ = start(arguments, actions);
    end_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, child_, 0)));
    if (!end_) {
        const int error = errno;
        kill(child_, SIGKILL);
        wait_for(child_);
        throw std::system_error(error, std::generic_category(), "pidfd_open");
    }
}

Companion::~Companion() {
    if (ends_within(patience_)) {
        return;
    }
    kill(child_, SIGTERM);
    if (!ends_within(std::chrono::seconds(3))) {
        kill(child_, SIGKILL);
        wait_for(child_);
    }
}

bool Companion::running() {
    return !ends_within(std::chrono::milliseconds(0));
}

bool Companion::ends_within(std::chrono::milliseconds time) {
    if (child_ != 0 && ready_within(end_.get(), time)) {
        while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
        }
        child_ = 0;
    }
    return child_ == 0;
}

}  // namespace hal::bench

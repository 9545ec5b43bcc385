#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "orphans.hpp"
#include "worker.hpp"

namespace hal::conformance {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void no(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// The same file on a number that is none of those a worker gets, so that handing them out overwrites nothing.
int above(int fd) {
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, worker_trail_fd + 1);
    if (moved < 0) {
        no("no file descriptor for a worker");
    }
    close(fd);
    return moved;
}

}  // namespace

// ---- Start ----

Process::Process() : mark_(next_worker_mark()) {
    const ChannelPair channel = make_channel();
    channel_.emplace(channel.parent);
    int out[2];
    int err[2];
    const int trail = memfd_create("trail", MFD_CLOEXEC);
    if (trail < 0 || ftruncate(trail, sizeof(Trail)) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        no("no pipes for a worker");
    }
    trail_ = static_cast<Trail*>(mmap(nullptr, sizeof(Trail), PROT_READ | PROT_WRITE, MAP_SHARED, trail, 0));
    out_ = std::make_unique<Captured>(out[0]);
    err_ = std::make_unique<Captured>(err[0]);
    if (trail_ == MAP_FAILED) {
        no("no trail for a worker");
    }

    const std::array<int, 4> ends{above(out[1]), above(err[1]), above(channel.worker), above(trail)};
    const int failed = spawn(ends);
    for (const int fd : ends) {
        close(fd);
    }
    if (failed != 0) {
        errno = failed;
        no("a worker cannot be started");
    }
    alive_ = true;
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, id_, 0));
    if (pidfd_ < 0) {
        no("no pidfd of a worker");
    }
}

// Of this program, with `ends` as its files from standard output on. Returns the error.
int Process::spawn(const std::array<int, 4>& ends) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (size_t i = 0; i < ends.size(); ++i) {
        posix_spawn_file_actions_adddup2(&actions, ends[i], static_cast<int>(STDOUT_FILENO + i));
    }
    posix_spawn_file_actions_addclosefrom_np(&actions, worker_trail_fd + 1);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string name = "host";
    std::string word = worker_word;
    std::array<char*, 3> argv{name.data(), word.data(), nullptr};
    std::vector<char*> variables;
    for (char** one = environ; *one != nullptr; ++one) {
        variables.push_back(*one);
    }
    variables.insert(variables.end(), {mark_.data(), nullptr});
    const int failed = posix_spawn(&id_, "/proc/self/exe", &actions, &attributes, argv.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

Process::~Process() {
    if (alive_) {
        dismiss();
        (void)leaves();
        kill_group();
        (void)gone();
    }
    close(pidfd_);
    munmap(trail_, sizeof(Trail));
}

void Process::take_output() const {
    out_->take();
    err_->take();
}

// ---- The end ----

bool Process::leaves() const {
    pollfd wait{pidfd_, POLLIN, 0};
    const auto end = Clock::now() + leave_limit;
    int ready = 0;
    do {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
        ready = poll(&wait, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    } while (ready < 0 && errno == EINTR);
    return ready != 0;
}

void Process::kill_group() const {
    kill(-id_, SIGKILL);
}

// Of what the plug-in left running in the group.
void Process::reap_group() {
    kill_group();
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-id_, &status, 0)) > 0 || (child < 0 && errno == EINTR);) {
        children_left_ += child > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
    }
}

Ending Process::gone() {
    int status = 0;
    while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    alive_ = false;
    reap_group();
    children_left_ += kill_descendants(mark_);
    take_output();
    Ending ending;
    ending.kind = WIFSIGNALED(status) ? Ending::Kind::signalled : Ending::Kind::exited;
    ending.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    ending.text = position();
    return ending;
}

}  // namespace hal::conformance

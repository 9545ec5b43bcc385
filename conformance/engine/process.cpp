#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>
#include <thread>

#include "coordinator.hpp"
#include "events_json.hpp"
#include "harness/trail.hpp"
#include "orphans.hpp"
#include "stacks.hpp"
#include "worker.hpp"

namespace hal::conformance {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto leave_limit = std::chrono::seconds(5);
constexpr size_t kept_head = 128U << 10U;
constexpr size_t kept_tail = 128U << 10U;

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

std::chrono::milliseconds left(Clock::time_point end) {
    return std::max(std::chrono::milliseconds(0),
                    std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
}

}  // namespace

// ---- What the process writes ----

struct WorkerProcess::Pipe {
    int fd = -1;
    uint64_t bytes = 0;
    std::string head;
    std::string tail;

    explicit Pipe(int end) : fd(end) { fcntl(fd, F_SETFL, O_NONBLOCK); }
    ~Pipe() { finish(); }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    // At most a megabyte each time: a process that writes without end must not keep its parent from looking at the
    // clock.
    void take() {
        std::array<char, 65'536> buffer;
        for (int i = 0; i < 16; ++i) {
            const ssize_t got = read(fd, buffer.data(), buffer.size());
            if (got <= 0) {
                return;
            }
            bytes += static_cast<uint64_t>(got);
            keep({buffer.data(), static_cast<size_t>(got)});
        }
    }
    void forget() {
        bytes = 0;
        head.clear();
        tail.clear();
    }
    void finish() {
        if (fd >= 0) {
            take();
            close(fd);
            fd = -1;
        }
    }
    [[nodiscard]] std::string text() const {
        const uint64_t lost = bytes - head.size() - tail.size();
        return head + (lost == 0 ? "" : "\n... " + std::to_string(lost) + " bytes ...\n") + tail;
    }

  private:
    void keep(std::string_view part) {
        const size_t to_head = std::min(part.size(), kept_head - head.size());
        head.append(part.substr(0, to_head));
        tail.append(part.substr(to_head));
        if (tail.size() > 2 * kept_tail) {
            tail.erase(0, tail.size() - kept_tail);
        }
    }
};

// ---- Start ----

WorkerProcess::WorkerProcess(const Target& target) {
    spawn(target);
}

void WorkerProcess::spawn(const Target& target) {
    const ChannelPair channel = make_channel();
    channel_.emplace(channel.parent);
    int out[2];
    int err[2];
    const int trail = memfd_create("trail", MFD_CLOEXEC);
    if (trail < 0 || ftruncate(trail, sizeof(Trail)) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        no("no pipes for a worker");
    }
    trail_ = static_cast<Trail*>(mmap(nullptr, sizeof(Trail), PROT_READ | PROT_WRITE, MAP_SHARED, trail, 0));
    out_ = std::make_unique<Pipe>(out[0]);
    err_ = std::make_unique<Pipe>(err[0]);
    if (trail_ == MAP_FAILED) {
        no("no trail for a worker");
    }

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    const std::array<int, 4> ends{above(out[1]), above(err[1]), above(channel.worker), above(trail)};
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
    mark_ = next_worker_mark();
    std::vector<char*> variables;
    for (char** one = environ; *one != nullptr; ++one) {
        variables.push_back(*one);
    }
    variables.insert(variables.end(), {mark_.data(), nullptr});
    const int failed = posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes, argv.data(), variables.data());
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (const int fd : ends) {
        close(fd);
    }
    if (failed != 0) {
        errno = failed;
        no("a worker cannot be started");
    }
    alive_ = true;
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    if (pidfd_ < 0) {
        no("no pidfd of a worker");
    }
    channel_->send(json{{"open", {{"manifest", target.manifest.string()}, {"options", target.options}}}});
}

WorkerProcess::~WorkerProcess() {
    if (alive_) {
        channel_.reset();
        pollfd wait{pidfd_, POLLIN, 0};
        (void)poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(leave_limit).count()));
        kill_group();
        (void)gone();
    }
    close(pidfd_);
    munmap(trail_, sizeof(Trail));
}

// ---- Asking ----

struct WorkerProcess::Seen {
    std::optional<json> answer;
    std::vector<Finding> findings;
    uint64_t garbage = 0;  // messages that are none of the worker's
    std::string fault;     // of the worker itself
    std::optional<Ending> ending;
};

void WorkerProcess::take_output() {
    out_->take();
    err_->take();
}

// False when there will be no more.
bool WorkerProcess::take_message(Seen& seen, const char* wanted) {
    std::optional<json> message;
    try {
        message = channel_->receive();
    } catch (const json::exception&) {
        seen.findings.push_back(
            {"", "a file descriptor that is not the plug-in's", "untouched", "written to", authority::A});
        ++seen.garbage;
        return true;
    }
    if (!message) {
        return false;
    }
    if (message->contains("finding")) {
        seen.findings.push_back(message->at("finding").get<Finding>());
    } else if (message->contains("refused")) {
        refused_ = message->at("refused").get<std::string>();
    } else if (message->contains("fault")) {
        seen.fault = message->at("fault").get<std::string>();
    } else if (coordinator_ != nullptr && take_word_of_rank(*message)) {
        return true;
    } else if (message->contains(wanted)) {
        dies_ = message->contains("dies");
        seen.answer = std::move(message);
    }
    return true;
}

// What it says to the other ranks, or what it wants done to itself.
bool WorkerProcess::take_word_of_rank(const json& message) {
    if (message.contains("exchange")) {
        coordinator_->said(rank_, message.at("exchange").get<std::string>());
    } else if (message.contains("stop_ms")) {
        kill(pid_, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(message.at("stop_ms").get<int64_t>()));
        kill(pid_, SIGCONT);
        channel_->send({{"continued", true}});
    } else {
        return false;
    }
    return true;
}

Ending WorkerProcess::hung(bool stacks) {
    Ending ending{Ending::Kind::limit, 0, trail_->describe(), stacks ? stacks_of(pid_) : std::string()};
    if (coordinator_ != nullptr) {
        coordinator_->about_to_kill(rank_);
    }
    kill_group();
    (void)gone();
    return ending;
}

WorkerProcess::Seen WorkerProcess::ask(const json& message, const char* wanted, std::chrono::milliseconds limit,
                                       bool stacks) {
    Seen seen;
    channel_->send(message);
    const auto end = Clock::now() + limit;
    int channel = channel_->fd();
    while (!seen.answer && !seen.ending) {
        std::array<pollfd, 4> waits{
            {{channel, POLLIN, 0}, {out_->fd, POLLIN, 0}, {err_->fd, POLLIN, 0}, {pidfd_, POLLIN, 0}}};
        if (poll(waits.data(), waits.size(), static_cast<int>(left(end).count())) < 0 && errno != EINTR) {
            no("poll");
        }
        take_output();
        if (waits[0].revents != 0) {  // before the look at the process: what it said before it died counts
            channel = take_message(seen, wanted) ? channel : -1;
        } else if (waits[3].revents != 0) {
            seen.ending = gone();
        } else if (left(end).count() == 0) {
            seen.ending = hung(stacks);
        }
        close_finished_pipes(waits[1].revents, waits[2].revents);
    }
    return seen;
}

// A pipe whose writers are gone is always ready: it is looked at no more.
void WorkerProcess::close_finished_pipes(short out_events, short err_events) {
    if ((out_events & POLLHUP) != 0) {
        out_->finish();
    }
    if ((err_events & POLLHUP) != 0) {
        err_->finish();
    }
}

Attempt WorkerProcess::run(const CaseJob& job) {
    const auto begin = Clock::now();
    out_->forget();
    err_->forget();
    const Seen seen = ask(json{{"case", job.id},
                               {"seed", job.seed},
                               {"timeout_mult", job.timeout_mult},
                               {"facts", *job.facts},
                               {"rank", rank_},
                               {"ranks", ranks_},
                               {"place", place_}},
                          "end", job.limit, job.stacks);
    if (dies_) {  // whoever hears that it is gone may rely on it
        pollfd wait{pidfd_, POLLIN, 0};
        (void)poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(leave_limit).count()));
    }
    Attempt attempt;
    if (seen.answer) {
        attempt.record = seen.answer->at("end").get<Record>();
        attempt.metrics = seen.answer->at("metrics").get<std::vector<Metric>>();
        attempt.meters = seen.answer->at("meters").get<std::map<std::string, int64_t>>();
        if (seen.garbage != 0) {
            attempt.record.findings = seen.findings;
            attempt.record.checks_bad[static_cast<size_t>(authority::A)] += seen.garbage;
        }
    } else {
        attempt.ending = *seen.ending;
        attempt.record.findings = seen.findings;
        for (const Finding& finding : seen.findings) {
            ++attempt.record.checks_bad[static_cast<size_t>(finding.authority)];
        }
        const std::string fault = refused_ ? "the library cannot be opened again: " + *refused_ : seen.fault;
        if (!fault.empty()) {
            attempt.ending = Ending{Ending::Kind::refused, 0, fault, {}};
        }
    }
    attempt.ms =
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count());
    take_output();  // what it wrote before its last message
    note_traces(attempt);
    return attempt;
}

// What the process has written and left behind since the case began.
void WorkerProcess::note_traces(Attempt& attempt) const {
    attempt.stdout_bytes = out_->bytes;
    attempt.stderr_bytes = err_->bytes;
    attempt.output = out_->text() + err_->text();
    attempt.children_left = children_left_;
}

FactsEvent WorkerProcess::introduce(std::chrono::milliseconds limit) {
    const Seen seen = ask(json{{"introduce", true}}, "introduction", limit, true);
    if (seen.answer) {
        return seen.answer->at("introduction").get<FactsEvent>();
    }
    if (refused_) {
        throw LoadError(*refused_);
    }
    if (!seen.fault.empty()) {
        throw LoadError("the plug-in cannot be asked what it offers: " + seen.fault);
    }
    const Judgement how = judge(authority::A, std::array{Attempt{*seen.ending, {}, 0, 0, {}, 0, {}, {}, 0}});
    throw LoadError("the plug-in cannot be asked what it offers: while it was opened and asked, " + how.reason +
                    (seen.ending->stacks.empty() ? "" : "\n" + seen.ending->stacks) +
                    (err_->bytes == 0 ? "" : "\nIt wrote: " + err_->text().substr(0, 2000)));
}

bool WorkerProcess::probe(std::chrono::milliseconds limit) {
    const Seen seen = ask(json{{"probe", true}}, "healthy", limit, false);
    return seen.answer && seen.answer->at("healthy").get<bool>();
}

void WorkerProcess::join(Coordinator& coordinator, size_t rank, size_t ranks, int place) {
    coordinator.join(rank, *channel_);
    coordinator_ = &coordinator;
    rank_ = rank;
    ranks_ = ranks;
    place_ = place;
}

bool WorkerProcess::meet(std::chrono::milliseconds limit) {
    const Seen seen = ask(json{{"meet", true}, {"rank", rank_}, {"ranks", ranks_}}, "met", limit, false);
    return seen.answer && seen.answer->at("met").get<bool>();
}

// ---- The end ----

void WorkerProcess::kill_group() {
    kill(-pid_, SIGKILL);
}

// Of what the plug-in left running in the group.
void WorkerProcess::reap_group() {
    kill_group();
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-pid_, &status, 0)) > 0 || (child < 0 && errno == EINTR);) {
        children_left_ += child > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
    }
}

// Waits for a process that has left or been killed, and for its group.
Ending WorkerProcess::gone() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    alive_ = false;
    reap_group();
    children_left_ += kill_descendants(mark_);
    take_output();
    Ending ending;
    ending.kind = WIFSIGNALED(status) ? Ending::Kind::signalled : Ending::Kind::exited;
    ending.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    ending.text = trail_->describe();
    return ending;
}

void WorkerProcess::end(Attempt& last) {
    if (alive_) {
        channel_.reset();
        pollfd wait{pidfd_, POLLIN, 0};
        const auto end = Clock::now() + leave_limit;
        int ready = 0;
        while ((ready = poll(&wait, 1, static_cast<int>(left(end).count()))) < 0 && errno == EINTR) {
        }
        if (ready == 0) {
            last.ending = Ending{Ending::Kind::limit, 0, "leaving the process, after the case", stacks_of(pid_)};
            kill_group();
        }
        const Ending how = gone();
        const bool well = dies_ ? how.kind == Ending::Kind::signalled && how.code == SIGKILL
                                : how.kind == Ending::Kind::exited && how.code == 0;
        if (last.ending.kind == Ending::Kind::end && !well) {
            last.ending = how;
            last.ending.text = "the end of the process, after the case";
        }
    }
    note_traces(last);
}

}  // namespace hal::conformance

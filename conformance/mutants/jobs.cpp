#include "jobs.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "engine/temp_folder.hpp"
#include "harness/api.hpp"

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes longest_job{30};
constexpr size_t kept_errors = 4096;

std::vector<std::string> command_of(const Job& job, const fs::path& folder) {
    std::vector<std::string> command{"hal-conformance", "run", "--manifest", job.manifest.string()};
    for (const std::string& option : job.options) {
        command.insert(command.end(), {"--option", option});
    }
    command.insert(command.end(), job.arguments.begin(), job.arguments.end());
    command.insert(command.end(), {"--quiet", "--no-stacks", "--out", folder.string()});
    return command;
}

pid_t spawn(std::vector<std::string> command, const fs::path& errors) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t pid = -1;
    const int failed = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        throw HarnessError("the checker cannot start itself");
    }
    return pid;
}

// Its exit status, -1 if it had to be killed or died.
int wait_for(pid_t pid) {
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    pollfd ended{pidfd, POLLIN, 0};
    const auto limit = static_cast<int>(std::chrono::milliseconds(longest_job).count());
    if (pidfd < 0 || poll(&ended, 1, limit) != 1) {
        kill(pid, SIGKILL);
    }
    close(pidfd);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string first_part(const fs::path& file) {
    std::string text(kept_errors, '\0');
    std::ifstream stream(file);
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(stream.gcount()));
    return text;
}

}  // namespace

JobResult run_job(const Job& job) {
    const TempFolder folder("selftest");
    const fs::path errors = folder.path() / "stderr";
    JobResult result;
    result.exit = wait_for(spawn(command_of(job, folder.path()), errors));
    result.errors = first_part(errors);
    if (const fs::path log = folder.path() / "events.jsonl"; fs::exists(log)) {
        result.log = read_log(log);
    }
    return result;
}

void run_beside_each_other(size_t count, int jobs, const std::function<void(size_t)>& work) {
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(jobs));
    std::mutex mutex;
    std::string failure;
    for (int i = 0; i < jobs; ++i) {
        threads.emplace_back([&] {
            try {
                for (size_t index = 0; (index = next++) < count;) {
                    work(index);
                }
            } catch (const std::exception& error) {
                const std::lock_guard lock(mutex);
                failure = error.what();
                next = count;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    if (!failure.empty()) {
        throw HarnessError(failure);
    }
}

}  // namespace hal::conformance

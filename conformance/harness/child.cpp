#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "backend.hpp"

namespace hal::conformance {
namespace {

std::map<std::string, ChildRole>& roles() {
    static std::map<std::string, ChildRole> map;
    return map;
}

// The child's standard output until it closes it, the limit passes, or it is longer than a sentence can be.
std::string read_all(int fd, std::chrono::milliseconds limit, bool& in_time) {
    constexpr size_t most = 4096;
    std::string text;
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd wait{fd, POLLIN, 0};
        in_time = left.count() > 0 && poll(&wait, 1, static_cast<int>(left.count())) > 0;
        char buffer[512];
        const ssize_t got = in_time ? read(fd, buffer, sizeof buffer) : 0;
        if (got <= 0 || text.size() > most) {
            return text;
        }
        text.append(buffer, static_cast<size_t>(got));
    }
}

std::vector<std::string> command_of(const Target& target, const std::string& role,
                                    const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"/proc/self/exe", "child", "--manifest", target.manifest.string()};
    for (const auto& [key, value] : target.options) {
        words.insert(words.end(), {"--option", key + "=" + value});
    }
    words.push_back(role);
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
}

std::string describe(int status) {
    if (WIFSIGNALED(status)) {
        return "died of signal " + std::to_string(WTERMSIG(status));
    }
    return "left with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildRegistration::ChildRegistration(const char* name, ChildRole role) {
    roles()[name] = role;
}

std::string run_child(const Target& target, const std::string& role, const std::vector<std::string>& arguments,
                      std::chrono::milliseconds limit) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw HarnessError("no pipe for a child process");
    }
    auto words = command_of(target, role, arguments);
    std::vector<char*> argv;
    for (auto& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t pid = 0;
    const int failed = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed != 0) {
        close(ends[0]);
        throw HarnessError("a child process could not be started");
    }
    bool in_time = true;
    std::string text = read_all(ends[0], limit, in_time);
    close(ends[0]);
    if (!in_time) {
        kill(pid, SIGKILL);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!in_time) {
        return role + ": did not end within the limit";
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : role + ": " + (text.empty() ? describe(status) : text);
}

int child_main(const Target& target, const std::string& role, const std::vector<std::string>& arguments) {
    const auto found = roles().find(role);
    std::string wrong = "no such role";
    if (found != roles().end()) {
        try {
            const Backend backend(target);
            if (const hal_status status = backend.initialize(); status != HAL_OK) {
                wrong = "initialize returned " + to_string(status);
            } else {
                wrong = found->second(backend, arguments);
            }
        } catch (const std::exception& error) {
            wrong = error.what();
        }
    }
    std::fputs(wrong.c_str(), stdout);
    return wrong.empty() ? 0 : 1;
}

}  // namespace hal::conformance

// Runs one hidden test case of this program in a process of its own, with a pipe each way.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>

namespace hal::cpu::test {

// The file numbers of the child's ends.
inline constexpr int child_reads = 60;
inline constexpr int child_writes = 61;

inline bool read_all(int file, void* data, size_t bytes) {
    auto* to = static_cast<char*>(data);
    while (bytes > 0) {
        const ssize_t got = read(file, to, bytes);
        if (got <= 0) {
            return false;
        }
        to += got;
        bytes -= static_cast<size_t>(got);
    }
    return true;
}

inline bool write_all(int file, const void* data, size_t bytes) {
    return write(file, data, bytes) == static_cast<ssize_t>(bytes);
}

class SelfProcess {
  public:
    explicit SelfProcess(std::string test_case) {
        int to_child[2];
        int from_child[2];
        REQUIRE(pipe2(to_child, O_CLOEXEC) == 0);
        REQUIRE(pipe2(from_child, O_CLOEXEC) == 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, to_child[0], child_reads);
        posix_spawn_file_actions_adddup2(&actions, from_child[1], child_writes);
        std::string program = "/proc/self/exe";
        char* arguments[] = {program.data(), test_case.data(), nullptr};
        REQUIRE(posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
        close(to_child[0]);
        close(from_child[1]);
        writes_ = to_child[1];
        reads_ = from_child[0];
    }
    ~SelfProcess() {
        close(reads_);
        if (process_ > 0) {
            static_cast<void>(finish());
        }
    }
    SelfProcess(const SelfProcess&) = delete;
    SelfProcess& operator=(const SelfProcess&) = delete;

    [[nodiscard]] int reads() const { return reads_; }
    [[nodiscard]] int writes() const { return writes_; }

    // Ends the child's input and waits for its end. 0 if its test passed.
    [[nodiscard]] int finish() {
        close(writes_);
        int status = 0;
        waitpid(process_, &status, 0);
        process_ = 0;
        return status;
    }

  private:
    pid_t process_ = 0;
    int reads_ = -1;
    int writes_ = -1;
};

}  // namespace hal::cpu::test

#include "stacks.hpp"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

namespace hal::conformance {
namespace {

namespace fs = std::filesystem;
constexpr size_t most_bytes = 16'384;

std::string first_line(const fs::path& file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

std::string threads_of(pid_t pid) {
    std::string text;
    std::error_code gone;  // a thread may end while it is looked at
    for (const auto& task : fs::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
        text += "thread " + task.path().filename().string() + " (" + first_line(task.path() / "comm") +
                "), in the kernel: " + first_line(task.path() / "wchan") + "\n";
    }
    return text;
}

std::string frames_of(pid_t pid) {
    if (!fs::exists("/usr/bin/gdb")) {
        return "gdb is not installed: no frames\n";
    }
    const std::string command = "timeout -s KILL 15 /usr/bin/gdb -nx -batch -p " + std::to_string(pid) +
                                " -ex 'thread apply all bt 24' 2>/dev/null";
    const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "re"), &pclose);
    std::string text;
    std::array<char, 1024> buffer{};
    while (output && text.size() < most_bytes && std::fgets(buffer.data(), buffer.size(), output.get()) != nullptr) {
        const std::string_view line(buffer.data());
        if (line.starts_with("Thread ") || line.starts_with("#") || line.starts_with(" ")) {
            text += line;
        }
    }
    return text;
}

}  // namespace

std::string stacks_of(pid_t pid) {
    return threads_of(pid) + frames_of(pid);
}

}  // namespace hal::conformance

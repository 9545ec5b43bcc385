#include "orphans.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

namespace hal::conformance {
namespace {

std::vector<pid_t> children_of_this_process() {
    std::vector<pid_t> children;
    std::error_code none;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", none)) {
        std::ifstream stream(task.path() / "children");
        for (pid_t child = 0; stream >> child;) {
            children.push_back(child);
        }
    }
    return children;
}

bool end_child(pid_t child) {
    kill(child, SIGKILL);
    return waitpid(child, nullptr, 0) == child;
}

}  // namespace

void adopt_orphans() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::string next_worker_mark() {
    static std::atomic<uint64_t> number{0};
    return "HOST_WORKER=" + std::to_string(getpid()) + "." + std::to_string(number++) + ";";
}

// Whoever ends while this looks hands its own children to us, so it looks until nothing changes any more; other workers
// come and go meanwhile, hence the limit.
uint64_t kill_descendants(const std::string& mark) {
    constexpr int most_looks = 10;
    uint64_t count = 0;
    std::vector<pid_t> before;
    for (int look = 0; look < most_looks; ++look) {
        std::vector<pid_t> children = children_of_this_process();
        uint64_t killed = 0;
        for (const pid_t child : children) {
            std::ifstream stream("/proc/" + std::to_string(child) + "/environ");
            const std::string variables((std::istreambuf_iterator<char>(stream)), {});
            killed += variables.find(mark) != std::string::npos && end_child(child) ? 1 : 0;
        }
        count += killed;
        if (killed == 0 && children == before) {
            break;
        }
        before = std::move(children);
    }
    return count;
}

void kill_orphans() {
    for (const pid_t child : children_of_this_process()) {
        (void)end_child(child);
    }
}

}  // namespace hal::conformance

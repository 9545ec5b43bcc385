#include "own_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "benchmark.hpp"
#include "descriptor.hpp"

namespace hal::bench::xccl {
namespace {

constexpr const char* device = "hal0";

void ip(const std::string& what) {
    if (std::system(fmt::format("PATH=$PATH:/usr/sbin:/sbin ip {} >&2", what).c_str()) != 0) {
        throw Unavailable(fmt::format("ip {} failed; install iproute2, and run as root", what));
    }
}

void bring_up(const std::string& address) {
    ip(fmt::format("addr add {}/24 dev {}", address, device));
    ip(fmt::format("link set {} up", device));
}

void make_host() {
    if (unshare(CLONE_NEWNET) != 0) {
        throw Unavailable(fmt::format("no right to make a network namespace: {}; run as root", std::strerror(errno)));
    }
    ip("link set lo up");
}

void join_host(const std::string& pid) {
    const Descriptor network(open(fmt::format("/proc/{}/ns/net", pid).c_str(), O_RDONLY | O_CLOEXEC));
    if (!network || setns(network.get(), CLONE_NEWNET) != 0) {
        throw Unavailable(fmt::format("no right to enter a network namespace: {}; run as root", std::strerror(errno)));
    }
}

}  // namespace

std::string enter_host(const RankArguments& arguments) {
    if (arguments.hosts == 1) {
        return "127.0.0.1";
    }
    const int ranks_of_host = arguments.ranks / arguments.hosts;
    const int host = arguments.rank / ranks_of_host;
    const std::string address = fmt::format("10.77.0.{}", host + 1);
    const auto& team = arguments.directory;
    if (arguments.rank % ranks_of_host != 0) {
        const std::string pid = read_shared(team / fmt::format("host.{}", host));
        static_cast<void>(read_shared(team / "linked"));
        join_host(pid);
        return address;
    }
    make_host();
    write_shared(team / fmt::format("host.{}", host), std::to_string(getpid()));
    if (host == 1) {
        ip(fmt::format("link add {0} type veth peer name {0} netns {1}", device, read_shared(team / "host.0")));
        bring_up(address);
        write_shared(team / "devices", "");
        static_cast<void>(read_shared(team / "linked"));
    } else {
        static_cast<void>(read_shared(team / "devices"));
        bring_up(address);
        write_shared(team / "linked", "");
    }
    return address;
}

}  // namespace hal::bench::xccl

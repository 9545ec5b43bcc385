#include "introduction.hpp"

#include <sys/stat.h>

#include <cstdio>

#include "hal/sdk.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t greeting_ns = 2'000'000'000;

std::string random_name() {
    static constexpr char digits[] = "0123456789abcdef";
    std::string name = "hal-xccl-";
    for (const uint8_t byte : random_secret()) {
        name += digits[byte >> 4U];
        name += digits[byte & 15U];
    }
    return name;
}

// Equal for processes that run on one kernel and can meet in the abstract name space.
std::array<char, 64> host_name() noexcept {
    char boot[40] = "";
    if (std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re"); file != nullptr) {
        if (std::fgets(boot, sizeof boot, file) == nullptr) {
            boot[0] = '\0';
        }
        std::fclose(file);
    }
    struct stat network {};
    static_cast<void>(stat("/proc/self/ns/net", &network));
    std::array<char, 64> name{};
    std::snprintf(name.data(), name.size(), "%.36s net %llu", boot, static_cast<unsigned long long>(network.st_ino));
    return name;
}

}  // namespace

std::optional<Greeting> receive_greeting(const File& socket, const Secret& secret, int32_t ranks, Deadline deadline,
                                         const char* what) {
    try {
        const Deadline soon = Deadline::after(greeting_ns);
        const auto greeting = receive_value<Greeting>(socket, soon.at_ns() < deadline.at_ns() ? soon : deadline, what);
        const bool known = greeting.magic == id_magic && same_secret(greeting.secret, secret) && greeting.rank >= 1 &&
                           greeting.rank < ranks;
        return known ? std::optional(greeting) : std::nullopt;
    } catch (const sdk::Error& error) {
        if (error.status() == HAL_ERROR_REMOTE || (error.status() == HAL_ERROR_TIMEOUT && !deadline.passed())) {
            return std::nullopt;
        }
        throw;
    }
}

Presence::Presence(const Address& network) {
    const std::string name = random_name();
    local_listener = listen_local(name);
    introduction.host = host_name();
    std::snprintf(introduction.socket.data(), introduction.socket.size(), "%s", name.c_str());
    introduction.network = network;
    introduction.network.port = 0;
    if (!is_loopback(network)) {
        network_listener = listen_tcp(introduction.network, &introduction.network.port);
    }
}

}  // namespace hal::xccl

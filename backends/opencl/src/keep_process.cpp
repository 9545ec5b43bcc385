#include "keep_process.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <string_view>

namespace hal::opencl {
namespace {

std::map<std::string, std::string> variables() {
    std::map<std::string, std::string> all;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string_view text(*at);
        const size_t name_end = text.find('=');
        if (name_end != std::string_view::npos) {
            all.emplace(text.substr(0, name_end), text.substr(name_end + 1));
        }
    }
    return all;
}

}  // namespace

KeepProcess::KeepProcess() : variables_(variables()) {
    for (int signal = 1; signal < NSIG; ++signal) {
        sigaction(signal, nullptr, &handlers_[static_cast<size_t>(signal)]);
    }
}

KeepProcess::~KeepProcess() {
    for (int signal = 1; signal < NSIG; ++signal) {
        const auto& before = handlers_[static_cast<size_t>(signal)];
        struct sigaction now {};
        if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler != before.sa_handler) {
            sigaction(signal, &before, nullptr);
        }
    }
    const auto now = variables();
    if (now == variables_) {
        return;
    }
    for (const auto& [name, value] : now) {
        if (!variables_.contains(name)) {
            unsetenv(name.c_str());
        }
    }
    for (const auto& [name, value] : variables_) {
        if (const auto found = now.find(name); found == now.end() || found->second != value) {
            setenv(name.c_str(), value.c_str(), 1);
        }
    }
}

}  // namespace hal::opencl

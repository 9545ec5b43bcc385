#include "real_paths.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>

namespace hal::loader {

namespace {

std::string system_realpath(const std::string& path) {
    const std::unique_ptr<char, decltype(&free)> resolved(realpath(path.c_str(), nullptr), free);
    if (resolved == nullptr && errno == ENOMEM) {
        throw std::bad_alloc();
    }
    return resolved == nullptr ? "" : resolved.get();
}

}  // namespace

std::string RealPaths::resolve(const std::string& path) {
    const size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? "" : path.substr(slash + 1);
    if (slash == 0 || name.empty() || name == "." || name == "..") {
        return system_realpath(path);
    }
    const std::string directory = path.substr(0, slash);
    auto known = directories_.find(directory);
    if (known == directories_.end()) {
        const std::string real = system_realpath(directory);
        if (real.empty()) {
            return real;
        }
        known = directories_.emplace(directory, real).first;
    }
    const std::string real = known->second == "/" ? "/" + name : known->second + "/" + name;
    struct stat status {};
    if (lstat(real.c_str(), &status) != 0) {
        return "";
    }
    return S_ISLNK(status.st_mode) ? system_realpath(real) : real;
}

}  // namespace hal::loader

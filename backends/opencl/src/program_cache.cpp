#include "program_cache.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace hal::opencl {
namespace {

constexpr char magic[8] = {'h', 'a', 'l', 'c', 'l', '0', '0', '1'};

struct Head {
    char magic[sizeof hal::opencl::magic];
    uint64_t key_bytes;
    uint64_t binary_bytes;
    uint64_t checksum;
};

// FNV-1a: a key for a folder's files and a guard against torn ones. Not against forged ones: whoever may write here is
// the user.
uint64_t hash(const std::string& text, uint64_t value = 0xcbf29ce484222325U) noexcept {
    for (const char c : text) {
        value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    }
    return value;
}

class File {
  public:
    explicit File(int fd) noexcept : fd_(fd) {}
    ~File() {
        if (fd_ >= 0) {
            close(fd_);
        }
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] bool open() const noexcept { return fd_ >= 0; }
    [[nodiscard]] int fd() const noexcept { return fd_; }

    [[nodiscard]] bool read_all(char* data, size_t size) const noexcept {
        while (size > 0) {
            const ssize_t got = read(fd_, data, size);
            if (got <= 0 && !(got < 0 && errno == EINTR)) {
                return false;
            }
            data += std::max<ssize_t>(got, 0);
            size -= static_cast<size_t>(std::max<ssize_t>(got, 0));
        }
        return true;
    }
    [[nodiscard]] bool write_all(const char* data, size_t size) const noexcept {
        while (size > 0) {
            const ssize_t got = ::write(fd_, data, size);
            if (got < 0 && errno != EINTR) {
                return false;
            }
            data += std::max<ssize_t>(got, 0);
            size -= static_cast<size_t>(std::max<ssize_t>(got, 0));
        }
        return true;
    }

  private:
    int fd_;
};

// The bytes behind the head and the key; empty unless the head and the key are right.
std::string read_binary(const File& file, const struct stat& found, const std::string& key) {
    Head head{};
    if (!file.read_all(reinterpret_cast<char*>(&head), sizeof head) ||
        std::memcmp(head.magic, magic, sizeof magic) != 0 || head.key_bytes != key.size() ||
        head.binary_bytes != static_cast<uint64_t>(found.st_size) - sizeof head - key.size()) {
        return {};
    }
    std::string kept_key(key.size(), '\0');
    std::string binary(head.binary_bytes, '\0');
    const bool right = file.read_all(kept_key.data(), kept_key.size()) && kept_key == key &&
                       file.read_all(binary.data(), binary.size()) && hash(binary) == head.checksum;
    return right ? binary : std::string();
}

std::string default_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
        return std::string(cache) + "/hal/opencl";
    }
    const char* home = std::getenv("HOME");
    return home != nullptr && home[0] == '/' ? std::string(home) + "/.cache/hal/opencl" : std::string();
}

std::string because(const std::string& path) {
    return "not kept: " + path + ": " + std::generic_category().message(errno);
}

}  // namespace

ProgramCache::ProgramCache(const std::string& option) {
    if (option != "off" && getauxval(AT_SECURE) == 0) {
        folder_ = option.empty() ? default_folder() : option;
    }
}

std::string ProgramCache::path_of(const std::string& key) const {
    char name[20];
    std::snprintf(name, sizeof name, "%016llx", static_cast<unsigned long long>(hash(key)));
    return folder_ + "/" + name;
}

std::string ProgramCache::read(const std::string& key) const {
    if (folder_.empty()) {
        return {};
    }
    const File file(open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat found {};
    if (!file.open() || fstat(file.fd(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid() ||
        (found.st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
        static_cast<uint64_t>(found.st_size) < sizeof(Head) + key.size()) {
        return {};
    }
    return read_binary(file, found, key);
}

std::string ProgramCache::write(const std::string& key, const std::string& binary) const {
    if (folder_.empty()) {
        return "not kept: there is no folder for it (option program_cache)";
    }
    if (binary.empty()) {
        return "not kept: the driver gives no binary";
    }
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error) {
        return "not kept: " + folder_ + ": " + error.message();
    }
    const std::string path = path_of(key);
    std::string temporary = path + ".XXXXXX";
    const File file(mkostemp(temporary.data(), O_CLOEXEC));
    if (!file.open()) {
        return because(temporary);
    }
    Head head{};
    std::memcpy(head.magic, magic, sizeof magic);
    head.key_bytes = key.size();
    head.binary_bytes = binary.size();
    head.checksum = hash(binary);
    if (!file.write_all(reinterpret_cast<const char*>(&head), sizeof head) || !file.write_all(key.data(), key.size()) ||
        !file.write_all(binary.data(), binary.size()) || rename(temporary.c_str(), path.c_str()) != 0) {
        std::string reason = because(temporary);
        unlink(temporary.c_str());
        return reason;
    }
    return "kept as " + path;
}

}  // namespace hal::opencl

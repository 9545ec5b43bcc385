#include "mapping.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "hal/sdk.hpp"
#include "socket.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t huge_page_bytes = uint64_t{2} << 20U;

using Key = std::pair<uint64_t, uint64_t>;  // device and inode
std::mutex mutex;
std::map<Key, std::weak_ptr<const Mapping>> mappings;  // of the process

Key key_of(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0) {
        throw_system("a memory file of a communicator");
    }
    return {status.st_dev, status.st_ino};
}

template <class Make>
std::shared_ptr<const Mapping> find_or_make(int file, Make&& make) {
    const Key key = key_of(file);
    const std::lock_guard lock(mutex);
    if (auto found = mappings[key].lock()) {
        return found;
    }
    std::erase_if(mappings, [](const auto& one) { return one.second.expired(); });
    auto made = make();
    mappings[key] = made;
    return made;
}

// At an address that huge pages can have: then what the owner made huge is huge here too.
std::byte* map_aligned(int file, uint64_t bytes) {
    void* const room =
        mmap(nullptr, bytes + huge_page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) {
        throw_system("addresses for the memory of another rank");
    }
    auto* const begin = static_cast<std::byte*>(room);
    const uint64_t skip = (huge_page_bytes - reinterpret_cast<uint64_t>(begin) % huge_page_bytes) % huge_page_bytes;
    void* const mapped =
        mmap(begin + skip, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
    const int error = errno;
    if (skip != 0) {
        munmap(begin, skip);
    }
    if (const uint64_t rest = huge_page_bytes - skip; rest != 0) {
        munmap(begin + skip + (bytes + 4095) / 4096 * 4096, rest);
    }
    if (mapped == MAP_FAILED) {
        munmap(begin + skip, bytes);
        errno = error;
        throw_system("the memory of another rank");
    }
    return static_cast<std::byte*>(mapped);
}

}  // namespace

Mapping::~Mapping() {
    if (owned_) {
        munmap(base_, bytes_);
    }
}

std::shared_ptr<const Mapping> map_file(int file, uint64_t bytes) {
    return find_or_make(file, [&] { return std::make_shared<const Mapping>(map_aligned(file, bytes), bytes, true); });
}

std::shared_ptr<const Mapping> map_own(const Arena& arena) {
    return find_or_make(arena.file, [&] {
        return std::make_shared<const Mapping>(reinterpret_cast<std::byte*>(arena.base), arena.bytes, false);
    });
}

int make_memory_file(const char* name, uint64_t bytes) {
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0) {
        throw_system("a memory file for a communicator");
    }
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        const int error = errno;
        close(file);
        errno = error;
        throw_system("a memory file for a communicator");
    }
    return file;
}

}  // namespace hal::xccl

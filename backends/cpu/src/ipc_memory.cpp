#include "ipc_memory.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>

#include "foreign_file.hpp"
#include "hal/sdk.hpp"

namespace hal::cpu {
namespace {

constexpr uint64_t handle_magic = 0x316d656d'75706368;  // "hcpumem1"

// The 64 bytes of a handle.
struct Wire {
    uint64_t magic;
    int32_t process;
    int32_t file;
    uint64_t device;
    uint64_t inode;
    uint64_t offset;
    uint64_t bytes;
    uint64_t inner;
    uint64_t zero;
};
static_assert(sizeof(Wire) == sizeof(hal_ipc_handle));

Wire read_handle(const hal_ipc_handle& handle) {
    Wire wire;
    std::memcpy(&wire, &handle, sizeof wire);
    uint64_t end = 0;
    if (wire.magic != handle_magic || wire.zero != 0 || wire.process <= 0 || wire.file < 0 ||
        wire.inner >= wire.bytes || __builtin_add_overflow(wire.offset, wire.bytes, &end) || end > INT64_MAX) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "the handle was not made by memory_ipc_export of this backend, or was changed on its way");
    }
    return wire;
}

// Looks before it opens: whatever else hides behind the number must not be touched.
File open_exported(const Wire& wire) {
    constexpr const char* what = "the memory";
    struct stat status {};
    if (stat(foreign_path(wire.process, wire.file).c_str(), &status) != 0) {
        throw_foreign_error(wire.process, what);
    }
    if (status.st_dev != wire.device || status.st_ino != wire.inode) {
        errno = ENOENT;
        throw_foreign_error(wire.process, what);
    }
    if (static_cast<uint64_t>(status.st_size) < wire.offset + wire.bytes) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "the handle names memory past the end of its arena");
    }
    return open_foreign(wire.process, wire.file, what);
}

}  // namespace

hal_ipc_handle make_ipc_handle(const IpcTarget& target) {
    struct stat status {};
    if (fstat(target.file, &status) != 0) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, std::string("fstat of the arena: ") + std::strerror(errno), errno);
    }
    const Wire wire{handle_magic, getpid(), target.file, status.st_dev, status.st_ino, target.offset, target.bytes,
                    target.inner, 0};
    hal_ipc_handle handle;
    std::memcpy(&handle, &wire, sizeof wire);
    return handle;
}

Imports::~Imports() {
    for (const auto& [base, mapping] : mappings_) {
        munmap(reinterpret_cast<void*>(mapping.map_base), mapping.map_bytes);
    }
}

uint64_t Imports::import(const hal_ipc_handle& handle) {
    const Wire wire = read_handle(handle);
    const File file = open_exported(wire);
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t first = wire.offset / page * page;
    const uint64_t map_bytes = wire.offset + wire.bytes - first;
    void* start = mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), static_cast<off_t>(first));
    if (start == MAP_FAILED) {
        throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES,
                         "mapping " + std::to_string(map_bytes) + " bytes of another process: " + std::strerror(errno),
                         errno);
    }
    const auto map_base = reinterpret_cast<uint64_t>(start);
    const uint64_t base = map_base + (wire.offset - first);
    try {
        const std::lock_guard lock(mutex_);
        mappings_.emplace(base, Mapping{wire.bytes, base + wire.inner, map_base, map_bytes});
    } catch (...) {
        munmap(start, map_bytes);
        throw;
    }
    return base + wire.inner;
}

bool Imports::close(uint64_t address) noexcept {
    decltype(mappings_)::node_type node;
    {
        const std::lock_guard lock(mutex_);
        auto after = mappings_.upper_bound(address);
        if (after == mappings_.begin() || std::prev(after)->second.pointer != address) {
            return false;
        }
        node = mappings_.extract(std::prev(after));
    }
    munmap(reinterpret_cast<void*>(node.mapped().map_base), node.mapped().map_bytes);
    return true;
}

std::optional<Imports::Found> Imports::find(uint64_t address) const {
    const std::shared_lock lock(mutex_);
    const auto after = mappings_.upper_bound(address);
    if (after == mappings_.begin()) {
        return std::nullopt;
    }
    const auto& [base, mapping] = *std::prev(after);
    if (address - base >= mapping.bytes) {
        return std::nullopt;
    }
    return Found{base, mapping.bytes};
}

uint64_t Imports::count() const noexcept {
    const std::shared_lock lock(mutex_);
    return mappings_.size();
}

}  // namespace hal::cpu

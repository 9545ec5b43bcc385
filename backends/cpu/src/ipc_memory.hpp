// Device memory of another process: the handle that travels, and the mappings made from it.
//
// A handle names the exporter's memfd by process and file number. The importer opens it through /proc/<pid>/fd, which
// the kernel allows to whoever may read that process, and which needs no connection between the two; the file's inode
// in the handle tells a number that has been reused. A mapping outlives the exporter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <shared_mutex>

#include "hal/memory.h"

namespace hal::cpu {

// What memory_ipc_export says about an allocation.
struct IpcTarget {
    int file;
    uint64_t offset;  // of the allocation in the file
    uint64_t bytes;   // of the allocation
    uint64_t inner;   // of the pointer in the allocation
};

// Throws sdk::Error OUT_OF_RESOURCES if the system tells nothing about the file.
[[nodiscard]] hal_ipc_handle make_ipc_handle(const IpcTarget& target);

class Imports {
  public:
    struct Found {
        uint64_t base;
        uint64_t bytes;
    };

    Imports() = default;
    ~Imports();
    Imports(const Imports&) = delete;
    Imports& operator=(const Imports&) = delete;

    // The address that answers to the exported pointer. Throws sdk::Error: INVALID_ARGUMENT (no handle of ours),
    // NOT_FOUND (process or memory gone), PERMISSION, OUT_OF_RESOURCES.
    [[nodiscard]] uint64_t import(const hal_ipc_handle& handle);
    // False if no import returned this address.
    [[nodiscard]] bool close(uint64_t address) noexcept;

    [[nodiscard]] std::optional<Found> find(uint64_t address) const;
    [[nodiscard]] uint64_t count() const noexcept;

  private:
    struct Mapping {
        uint64_t bytes;    // of the allocation
        uint64_t pointer;  // what import returned
        uint64_t map_base;
        uint64_t map_bytes;
    };

    mutable std::shared_mutex mutex_;
    std::map<uint64_t, Mapping> mappings_;  // by base of the allocation
};

}  // namespace hal::cpu

// Page-locked host memory: what the back end allocates and what the caller registers.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "hal/plugin.h"

namespace hal::cpu {

// Locking is best effort: without the right (RLIMIT_MEMLOCK) the memory is plain, `locked` says so, and the log says
// why, once.
class HostMemory {
  public:
    struct Found {
        uint64_t base;
        uint64_t bytes;  // as asked for
        bool locked;
        bool registered;  // the caller's memory
    };

    explicit HostMemory(const hal_host* host) noexcept : host_(host) {}
    ~HostMemory();
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;

    // Page-aligned. Throws sdk::Error OUT_OF_HOST_MEMORY.
    [[nodiscard]] void* allocate(uint64_t bytes);
    // Of an address that find() answers as the base of an allocation; false if it is gone by now.
    [[nodiscard]] bool deallocate(uint64_t address) noexcept;

    // Throws sdk::Error INVALID_ARGUMENT (not mapped), ALREADY_EXISTS (overlaps).
    void add(uint64_t address, uint64_t bytes);
    // False if no registered range begins there.
    [[nodiscard]] bool remove(uint64_t address) noexcept;

    [[nodiscard]] std::optional<Found> find(uint64_t address) const;
    // The first range that shares a byte with [address, address + bytes).
    [[nodiscard]] std::optional<Found> find_overlap(uint64_t address, uint64_t bytes) const;

    [[nodiscard]] uint64_t allocations() const noexcept;
    [[nodiscard]] uint64_t registrations() const noexcept;

  private:
    struct Range {
        uint64_t bytes;
        bool locked;
        bool registered;
    };
    using Ranges = std::map<uint64_t, Range>;

    [[nodiscard]] bool lock_pages(uint64_t first, uint64_t end) noexcept;
    [[nodiscard]] std::optional<Found> find_overlap_locked(uint64_t address, uint64_t bytes) const;
    static void undo(uint64_t address, const Range& range) noexcept;

    const hal_host* host_;
    mutable std::mutex mutex_;
    Ranges ranges_;
    uint64_t registered_ = 0;
    bool told_ = false;
};

}  // namespace hal::cpu

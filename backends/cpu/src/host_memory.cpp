#include "host_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "address_text.hpp"
#include "hal/sdk.hpp"

namespace hal::cpu {

using shared::address_text;
using shared::range_text;
namespace {

uint64_t page_bytes() noexcept {
    static const auto bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}
uint64_t page_floor(uint64_t address) noexcept {
    return address / page_bytes() * page_bytes();
}
uint64_t page_ceil(uint64_t address) noexcept {
    return page_floor(address + page_bytes() - 1);
}
void* as_pointer(uint64_t address) noexcept {
    return reinterpret_cast<void*>(address);
}

}  // namespace

HostMemory::~HostMemory() {
    for (const auto& [address, range] : ranges_) {
        undo(address, range);
    }
}

void* HostMemory::allocate(uint64_t bytes) {
    void* memory = MAP_FAILED;
    if (bytes <= UINT64_MAX - page_bytes()) {
        memory = mmap(nullptr, page_ceil(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (memory == MAP_FAILED) {
        throw sdk::Error(HAL_ERROR_OUT_OF_HOST_MEMORY,
                         "the system has no " + std::to_string(bytes) + " bytes of host memory to give");
    }
    const auto address = reinterpret_cast<uint64_t>(memory);
    madvise(memory, page_ceil(bytes), MADV_HUGEPAGE);
    const bool locked = lock_pages(address, page_ceil(address + bytes));
    try {
        const std::lock_guard lock(mutex_);
        ranges_.emplace(address, Range{bytes, locked, false});
    } catch (...) {
        munmap(memory, page_ceil(bytes));
        throw;
    }
    return memory;
}

bool HostMemory::deallocate(uint64_t address) noexcept {
    Ranges::node_type node;
    {
        const std::lock_guard lock(mutex_);
        const auto place = ranges_.find(address);
        if (place == ranges_.end() || place->second.registered) {
            return false;
        }
        node = ranges_.extract(place);
    }
    undo(address, node.mapped());
    return true;
}

void HostMemory::add(uint64_t address, uint64_t bytes) {
    const uint64_t first = page_floor(address);
    const uint64_t end = page_ceil(address + bytes);
    // MS_ASYNC does nothing on Linux but tell whether all pages are mapped.
    if (msync(as_pointer(first), end - first, MS_ASYNC) != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, range_text(address, bytes) + " is not all mapped in this process");
    }
    {
        const std::lock_guard lock(mutex_);
        if (const auto other = find_overlap_locked(address, bytes)) {
            throw sdk::Error(HAL_ERROR_ALREADY_EXISTS,
                             range_text(address, bytes) + " overlaps " + range_text(other->base, other->bytes) +
                                 (other->registered ? ", which is registered; unregister it first"
                                                    : ", which host_memory_allocate made; it is locked as it is"));
        }
        ranges_.emplace(address, Range{bytes, false, true});
        ++registered_;
    }
    // Outside the mutex: locking reads pages in, which takes as long as it takes.
    if (lock_pages(first, end)) {
        const std::lock_guard lock(mutex_);
        if (const auto place = ranges_.find(address); place != ranges_.end()) {
            place->second.locked = true;
        }
    }
}

bool HostMemory::remove(uint64_t address) noexcept {
    Ranges::node_type node;
    {
        const std::lock_guard lock(mutex_);
        const auto place = ranges_.find(address);
        if (place == ranges_.end() || !place->second.registered) {
            return false;
        }
        node = ranges_.extract(place);
        --registered_;
    }
    undo(address, node.mapped());
    return true;
}

std::optional<HostMemory::Found> HostMemory::find(uint64_t address) const {
    return find_overlap(address, 1);
}

std::optional<HostMemory::Found> HostMemory::find_overlap(uint64_t address, uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    return find_overlap_locked(address, bytes);
}

std::optional<HostMemory::Found> HostMemory::find_overlap_locked(uint64_t address, uint64_t bytes) const {
    const auto after = ranges_.lower_bound(address + bytes);
    if (after == ranges_.begin()) {
        return std::nullopt;
    }
    const auto& [base, range] = *std::prev(after);
    if (address - base >= range.bytes && base < address) {
        return std::nullopt;
    }
    return Found{base, range.bytes, range.locked, range.registered};
}

uint64_t HostMemory::allocations() const noexcept {
    const std::lock_guard lock(mutex_);
    return ranges_.size() - registered_;
}

uint64_t HostMemory::registrations() const noexcept {
    const std::lock_guard lock(mutex_);
    return registered_;
}

bool HostMemory::lock_pages(uint64_t first, uint64_t end) noexcept {
    if (mlock(as_pointer(first), end - first) == 0) {
        return true;
    }
    const int code = errno;
    {
        const std::lock_guard lock(mutex_);
        if (told_) {
            return false;
        }
        told_ = true;
    }
    char text[256];
    snprintf(text, sizeof text,
             "host memory stays pageable: mlock of %llu bytes failed: %s; raise RLIMIT_MEMLOCK (ulimit -l). Said once.",
             static_cast<unsigned long long>(end - first), std::strerror(code));
    host_->log(host_, HAL_LOG_INFO, text);
    return false;
}

// Locks do not count: a page that another range shares must stay locked, so only the pages that lie whole inside are
// unlocked.
void HostMemory::undo(uint64_t address, const Range& range) noexcept {
    if (!range.registered) {
        munmap(as_pointer(address), page_ceil(range.bytes));
        return;
    }
    const uint64_t first = page_ceil(address);
    const uint64_t end = page_floor(address + range.bytes);
    if (range.locked && first < end) {
        munlock(as_pointer(first), end - first);
    }
}

}  // namespace hal::cpu

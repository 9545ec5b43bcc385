#include "arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hal/sdk.hpp"

// Newer than the C library's headers of Debian 12.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace hal::cpu {
namespace {

[[noreturn]] void fail_system(int file, const char* what) {
    const int code = errno;
    if (file >= 0) {
        close(file);
    }
    throw sdk::Error(HAL_ERROR_OUT_OF_RESOURCES, std::string("device memory: ") + what + ": " + std::strerror(code),
                     code);
}

}  // namespace

Arena::Arena(uint64_t span_bytes) {
    file_ = memfd_create("hal-cpu-memory", MFD_CLOEXEC);
    if (file_ < 0) {
        fail_system(-1, "memfd_create failed; raise the limit of open files (ulimit -n)");
    }
    void* reserved = MAP_FAILED;
    for (const uint64_t divisor : {1, 2, 4}) {
        span_bytes_ = span_bytes / divisor / window_bytes * window_bytes;
        // One window more, to begin on a huge page.
        reserved =
            mmap(nullptr, span_bytes_ + window_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (reserved != MAP_FAILED) {
            break;
        }
    }
    if (reserved == MAP_FAILED) {
        fail_system(file_, "no address space for it; raise the limit of virtual memory (ulimit -v)");
    }
    const auto first = reinterpret_cast<uint64_t>(reserved);
    base_ = (first + window_bytes - 1) / window_bytes * window_bytes;
    if (base_ != first) {
        munmap(reserved, base_ - first);
    }
    munmap(reinterpret_cast<void*>(base_ + span_bytes_), first + window_bytes - base_);
    if (mmap(reinterpret_cast<void*>(base_), span_bytes_, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file_, 0) == MAP_FAILED) {
        const int code = errno;
        munmap(reinterpret_cast<void*>(base_), span_bytes_);
        errno = code;
        fail_system(file_, "its file cannot be mapped");
    }
    madvise(reinterpret_cast<void*>(base_), span_bytes_, MADV_HUGEPAGE);
    windows_ = std::vector<std::atomic<uint8_t>>(span_bytes_ / window_bytes);
}

Arena::~Arena() {
    munmap(reinterpret_cast<void*>(base_), span_bytes_);
    close(file_);
}

bool Arena::grow(uint64_t end_bytes) noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && end_bytes > limit.rlim_cur) {
        return false;  // ftruncate would send SIGXFSZ, which ends the host
    }
    return ftruncate(file_, static_cast<off_t>(end_bytes)) == 0;
}

void Arena::discard(uint64_t offset, uint64_t bytes) noexcept {
    static const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = (offset + page - 1) / page * page;
    const uint64_t end = (offset + bytes) / page * page;
    if (begin >= end) {
        return;
    }
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
              static_cast<off_t>(end - begin));
    for (uint64_t window = (begin + window_bytes - 1) / window_bytes; window < end / window_bytes; ++window) {
        windows_[window].store(0, std::memory_order_relaxed);
    }
}

void Arena::make_huge(uint64_t offset, uint64_t bytes) noexcept {
    const uint64_t end = (offset + bytes) / window_bytes;
    uint64_t window = (offset + window_bytes - 1) / window_bytes;
    while (window < end && kernel_can_collapse_.load(std::memory_order_relaxed)) {
        if (!claim(window)) {
            ++window;
            continue;
        }
        const uint64_t first = window++;
        while (window < end && claim(window)) {
            ++window;
        }
        collapse(first, window);
    }
}

bool Arena::claim(uint64_t window) noexcept {
    return windows_[window].load(std::memory_order_relaxed) == 0 &&
           (windows_[window].fetch_or(tried, std::memory_order_relaxed) & tried) == 0;
}

// MADV_COLLAPSE is the one way to huge pages of a memfd that does not depend on shmem_enabled, whose default is
// `never`. It wants a page present in each window. One call for all of them: each call makes the kernel visit every
// processor.
void Arena::collapse(uint64_t first, uint64_t end) noexcept {
    void* start = reinterpret_cast<void*>(base_ + first * window_bytes);
    for (uint64_t window = first; window < end; ++window) {
        if (madvise(reinterpret_cast<void*>(base_ + window * window_bytes), 1, MADV_POPULATE_READ) != 0) {
            kernel_can_collapse_.store(false, std::memory_order_relaxed);
            return;
        }
    }
    if (madvise(start, (end - first) * window_bytes, MADV_COLLAPSE) == 0) {
        for (uint64_t window = first; window < end; ++window) {
            windows_[window].fetch_or(huge, std::memory_order_relaxed);
        }
    } else if (errno == EINVAL) {  // this kernel or its settings do not have it; else no huge page is free just now
        kernel_can_collapse_.store(false, std::memory_order_relaxed);
    }
}

}  // namespace hal::cpu

#include "staging_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <string>

#include "hal/sdk.hpp"

namespace hal::xccl {
namespace {

constexpr uint64_t page_bytes = 4096;
// Smaller blocks keep their pages: taking them back costs more than they are.
constexpr uint64_t kept_bytes = uint64_t{16} << 20U;

}  // namespace

StagingMemory::StagingMemory() : file_(make_memory_file("hal-xccl-staging", span_bytes)) {
    void* const mapped = mmap(nullptr, span_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
    if (mapped == MAP_FAILED) {
        throw_system("addresses for the staging memory of collectives");
    }
    base_ = static_cast<std::byte*>(mapped);
    free_.emplace(0, span_bytes);
}

StagingMemory::~StagingMemory() {
    munmap(base_, span_bytes);
}

std::shared_ptr<std::byte> StagingMemory::take(uint64_t bytes) {
    const uint64_t whole = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    const std::lock_guard lock(mutex_);
    for (auto place = free_.begin(); place != free_.end(); ++place) {
        const auto [offset, room] = *place;
        if (room >= whole) {
            free_.erase(place);
            if (room > whole) {
                free_.emplace(offset + whole, room - whole);
            }
            return {base_ + offset, [this, offset = offset, whole](std::byte*) { give_back(offset, whole); }};
        }
    }
    throw sdk::Error(HAL_ERROR_OUT_OF_HOST_MEMORY,
                     "no staging memory for " + std::to_string(bytes) + " bytes of a collective");
}

void StagingMemory::give_back(uint64_t offset, uint64_t bytes) noexcept {
    if (bytes > kept_bytes) {
        static_cast<void>(fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                                    static_cast<off_t>(bytes)));
    }
    const std::lock_guard lock(mutex_);
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + bytes) {
        bytes += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
        std::prev(next)->second += bytes;
    } else {
        free_.emplace_hint(next, offset, bytes);
    }
}

}  // namespace hal::xccl

#include "copy.hpp"

#include <cstring>

#include "past_caches.hpp"

namespace hal::cpu {

void copy_bytes(void* dst, const void* src, uint64_t bytes) noexcept {
    if (bytes < streaming_copy_bytes) [[likely]] {
        if (bytes != 0) {  // NULL is legal for no bytes
            std::memmove(dst, src, bytes);
        }
        return;
    }
    shared::copy_past_caches(static_cast<std::byte*>(dst), static_cast<const std::byte*>(src), bytes);
    shared::past_caches_fence();  // the release store that reports completion does not order such stores
}

void copy_rows(const Rows& job) noexcept {
    if (job.width == job.dst_pitch && job.width == job.src_pitch) {
        copy_bytes(job.dst, job.src, job.width * job.rows);
        return;
    }
    // Overlapping sides of one pitch behave as memmove, like whole copies.
    const bool backwards = job.dst > job.src;
    for (uint64_t i = 0; i < job.rows; ++i) {
        const uint64_t row = backwards ? job.rows - 1 - i : i;
        copy_bytes(static_cast<char*>(job.dst) + row * job.dst_pitch,
                   static_cast<const char*>(job.src) + row * job.src_pitch, job.width);
    }
}

}  // namespace hal::cpu

#include "copy.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hal::cpu {
namespace {

#if defined(__x86_64__)

constexpr uint64_t step = 128;  // two cache lines a turn, each written whole

// Ascending, so dst may overlap src from below. Head and tail that fill no line go through memmove.
__attribute__((target("avx"))) void copy_streaming(char* dst, const char* src, uint64_t bytes) noexcept {
    const uint64_t head = -reinterpret_cast<uint64_t>(dst) % 64;
    std::memmove(dst, src, head);
    dst += head;
    src += head;
    bytes -= head;
    for (; bytes >= step; bytes -= step, dst += step, src += step) {
        const auto* from = reinterpret_cast<const __m256i*>(src);
        auto* to = reinterpret_cast<__m256i*>(dst);
        const __m256i a = _mm256_loadu_si256(from);
        const __m256i b = _mm256_loadu_si256(from + 1);
        const __m256i c = _mm256_loadu_si256(from + 2);
        const __m256i d = _mm256_loadu_si256(from + 3);
        _mm256_stream_si256(to, a);
        _mm256_stream_si256(to + 1, b);
        _mm256_stream_si256(to + 2, c);
        _mm256_stream_si256(to + 3, d);
    }
    _mm_sfence();  // such stores are not ordered by the release store that reports completion
    std::memmove(dst, src, bytes);
}

bool can_stream(const char* dst, const char* src, uint64_t bytes) noexcept {
    static const bool has_avx = __builtin_cpu_supports("avx") != 0;
    const bool ascending_is_safe = dst <= src || dst >= src + bytes;
    return has_avx && ascending_is_safe;
}

#else

void copy_streaming(char*, const char*, uint64_t) noexcept {}
bool can_stream(const char*, const char*, uint64_t) noexcept {
    return false;
}

#endif

}  // namespace

void copy_bytes(void* dst, const void* src, uint64_t bytes) noexcept {
    if (bytes < streaming_copy_bytes) [[likely]] {
        if (bytes != 0) {  // NULL is legal for no bytes
            std::memmove(dst, src, bytes);
        }
        return;
    }
    auto* to = static_cast<char*>(dst);
    const auto* from = static_cast<const char*>(src);
    if (can_stream(to, from, bytes)) {
        copy_streaming(to, from, bytes);
    } else {
        std::memmove(dst, src, bytes);
    }
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

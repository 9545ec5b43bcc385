#include "past_caches.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hal::shared {
namespace {

#if defined(__x86_64__)

constexpr uint64_t step = 128;  // two cache lines a turn, each written whole

// Ascending. Head and tail that fill no line go through memmove.
__attribute__((target("avx"))) void copy_lines(std::byte* to, const std::byte* from, uint64_t bytes) noexcept {
    const uint64_t head = std::min(bytes, -reinterpret_cast<uint64_t>(to) % 64);
    std::memmove(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= step; bytes -= step, to += step, from += step) {
        const auto* source = reinterpret_cast<const __m256i*>(from);
        auto* target = reinterpret_cast<__m256i*>(to);
        const __m256i a = _mm256_loadu_si256(source);
        const __m256i b = _mm256_loadu_si256(source + 1);
        const __m256i c = _mm256_loadu_si256(source + 2);
        const __m256i d = _mm256_loadu_si256(source + 3);
        _mm256_stream_si256(target, a);
        _mm256_stream_si256(target + 1, b);
        _mm256_stream_si256(target + 2, c);
        _mm256_stream_si256(target + 3, d);
    }
    std::memmove(to, from, bytes);
}

bool can_copy_lines() noexcept {
    static const bool has_avx = __builtin_cpu_supports("avx") != 0;
    return has_avx;
}

#else

void copy_lines(std::byte*, const std::byte*, uint64_t) noexcept {}
bool can_copy_lines() noexcept {
    return false;
}

#endif

}  // namespace

void copy_past_caches(std::byte* to, const std::byte* from, uint64_t bytes) noexcept {
    const bool ascending_is_safe = to <= from || to >= from + bytes;
    if (ascending_is_safe && can_copy_lines()) {
        copy_lines(to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}

void past_caches_fence() noexcept {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

}  // namespace hal::shared

// Copies that may go past the caches, for results larger than they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hal::xccl {

// Without the fence that ends a series of stores past the caches.
inline void copy_block(std::byte* to, const std::byte* from, uint64_t bytes, bool stream) noexcept {
#if defined(__SSE2__)
    if (stream && bytes >= 64) {
        const uint64_t head = (16 - reinterpret_cast<uint64_t>(to) % 16) % 16;
        std::memcpy(to, from, head);
        const uint64_t whole = (bytes - head) / 64 * 64;
        for (uint64_t i = head; i < head + whole; i += 64) {
            const auto* const source = reinterpret_cast<const __m128i*>(from + i);
            auto* const target = reinterpret_cast<__m128i*>(to + i);
            const __m128i a = _mm_loadu_si128(source);
            const __m128i b = _mm_loadu_si128(source + 1);
            const __m128i c = _mm_loadu_si128(source + 2);
            const __m128i d = _mm_loadu_si128(source + 3);
            _mm_stream_si128(target, a);
            _mm_stream_si128(target + 1, b);
            _mm_stream_si128(target + 2, c);
            _mm_stream_si128(target + 3, d);
        }
        std::memcpy(to + head + whole, from + head + whole, bytes - head - whole);
        return;
    }
#endif
    std::memmove(to, from, bytes);
}

// Stores past the caches become visible in any order; what comes next says that they are there.
inline void end_stream(bool stream) noexcept {
#if defined(__SSE2__)
    if (stream) {
        _mm_sfence();
    }
#else
    static_cast<void>(stream);
#endif
}

}  // namespace hal::xccl

// Host memory as the rules of a benchmark want it: touched, and never full of zeros.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace hal::bench {

enum class Pages { small, huge };  // asked of the kernel with madvise

// Writes a pseudo-random pattern of a fixed seed. Zero lines would be copied up to three times faster.
void fill_noise(void* data, uint64_t size_bytes);

// An anonymous mapping of its own, filled with noise.
class Buffer {
  public:
    Buffer(uint64_t size_bytes, Pages pages);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    [[nodiscard]] char* data() const { return data_; }
    [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }

  private:
    char* data_;
    uint64_t size_bytes_;
};

// A mapping without any touched page; for measuring the first touch.
[[nodiscard]] void* map_untouched(uint64_t size_bytes, Pages pages);
void unmap(void* data, uint64_t size_bytes);

}  // namespace hal::bench

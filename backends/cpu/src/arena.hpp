// The address range that a device's memory lies in: one sparse memfd, mapped once. Another process that is given the
// file maps the same bytes, and one file a device means that an offset is all that has to be told about a block. It
// grows at the end, gives pages back to the kernel, and asks for huge pages.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace hal::cpu {

inline constexpr uint64_t window_bytes = uint64_t{2} << 20;  // a huge page of x86-64 and of 4 KiB-granule arm64

class Arena {
  public:
    // `span_bytes` of addresses, none of them usable yet; half and a quarter of it if that many are not to be had.
    // Throws sdk::Error OUT_OF_RESOURCES.
    explicit Arena(uint64_t span_bytes);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    [[nodiscard]] uint64_t base() const noexcept { return base_; }
    [[nodiscard]] uint64_t span_bytes() const noexcept { return span_bytes_; }
    [[nodiscard]] int file() const noexcept { return file_; }

    // Makes [0, end_bytes) usable. False if the system refuses (RLIMIT_FSIZE). One caller at a time.
    [[nodiscard]] bool grow(uint64_t end_bytes) noexcept;

    // Gives the whole pages of the range back; they read as zero afterwards.
    void discard(uint64_t offset, uint64_t bytes) noexcept;

    // Makes the windows that lie whole in the range huge pages, unless that was tried before. A hint: contents stay,
    // other threads may use the range meanwhile, a refusal is silent.
    void make_huge(uint64_t offset, uint64_t bytes) noexcept;
    [[nodiscard]] bool is_huge(uint64_t offset) const noexcept {
        return (windows_[offset / window_bytes].load(std::memory_order_relaxed) & huge) != 0;
    }

  private:
    [[nodiscard]] bool claim(uint64_t window) noexcept;
    void collapse(uint64_t first, uint64_t end) noexcept;

    static constexpr uint8_t tried = 1;
    static constexpr uint8_t huge = 2;

    int file_ = -1;
    uint64_t base_ = 0;
    uint64_t span_bytes_ = 0;
    std::vector<std::atomic<uint8_t>> windows_;
    std::atomic<bool> kernel_can_collapse_{true};
};

}  // namespace hal::cpu

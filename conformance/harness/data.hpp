// Test data that differs everywhere, poison for what must be overwritten, guards for what must not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hal::conformance {

inline constexpr uint64_t guard_bytes = 64;
inline constexpr uint8_t poison = 0xA5;  // what an output holds before it is written
inline constexpr uint8_t guard = 0xC3;   // what lies around a buffer

[[nodiscard]] constexpr uint64_t mix(uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
}

// FNV-1a over the id: a case's data depend on the run's seed and its id, not on which cases run before it.
[[nodiscard]] constexpr uint64_t case_seed(uint64_t run_seed, std::string_view id) {
    uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : id) {
        hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
    }
    return mix(run_seed ^ hash);
}

// Byte i is hash(seed, buffer, i), never the poison and never 0, so that a byte that was not written always shows.
class Pattern {
  public:
    constexpr Pattern() = default;
    constexpr Pattern(uint64_t seed, uint64_t buffer) : key_(mix(mix(seed) + buffer)) {}

    [[nodiscard]] constexpr uint8_t at(uint64_t i) const { return clean(mix(key_ + i / 8), i % 8); }
    // Bytes first .. first + size of the pattern.
    void write(void* target, uint64_t size, uint64_t first = 0) const;

  private:
    static constexpr uint8_t clean(uint64_t word, uint64_t lane) {
        const auto byte = static_cast<uint8_t>(word >> (8 * lane));
        return byte == poison || byte == 0 ? static_cast<uint8_t>(byte ^ 0x5BU) : byte;
    }
    uint64_t key_ = 0;
};

// The first difference and how many there are; every byte is looked at.
struct Mismatch {
    uint64_t first = 0;
    uint8_t expected = 0;
    uint8_t got = 0;
    uint64_t count = 0;
};
[[nodiscard]] std::optional<Mismatch> compare(const void* got, const Pattern& expected, uint64_t size,
                                              uint64_t first = 0);
[[nodiscard]] std::optional<Mismatch> compare(const void* got, uint8_t expected, uint64_t size);
[[nodiscard]] std::string to_string(const Mismatch& mismatch);

// UTF-8 without control characters (but for line breaks and tabs where they are allowed).
[[nodiscard]] bool valid_text(std::string_view text, bool lines = false);

// Host memory between two guards, born poisoned. Outlives the streams: the test frees it after them.
class HostBuffer {
  public:
    explicit HostBuffer(uint64_t size);

    [[nodiscard]] uint8_t* data() const { return storage_.get() + guard_bytes; }
    [[nodiscard]] uint64_t size() const { return size_; }
    void write(const Pattern& pattern) const { pattern.write(data(), size_); }
    void repoison() const { std::memset(data(), poison, size_); }
    [[nodiscard]] bool guards_intact() const;

  private:
    uint64_t size_;
    std::unique_ptr<uint8_t[]> storage_;
};

// Memory of which the last byte lies right before an unmapped page, or the first right behind one.
class PageEnd {
  public:
    explicit PageEnd(uint64_t size);
    ~PageEnd();
    PageEnd(const PageEnd&) = delete;
    PageEnd& operator=(const PageEnd&) = delete;

    [[nodiscard]] uint8_t* at_end() const;
    [[nodiscard]] uint8_t* at_begin() const;
    void make_read_only() const;

  private:
    uint64_t size_;
    uint64_t page_;
    uint64_t mapped_;
    uint8_t* base_;
};

}  // namespace hal::conformance

// Memory files mapped into this process: each file once, however many communicators use it, and the arenas of our own
// devices where they lie already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace hal::xccl {

// Of a device: one memory file and where it is mapped.
struct Arena {
    int file = -1;
    uint64_t base = 0;
    uint64_t bytes = 0;
};

class Mapping {
  public:
    Mapping(std::byte* base, uint64_t bytes, bool owned) noexcept : base_(base), bytes_(bytes), owned_(owned) {}
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] std::byte* base() const noexcept { return base_; }
    [[nodiscard]] uint64_t bytes() const noexcept { return bytes_; }

  private:
    std::byte* base_;
    uint64_t bytes_;
    bool owned_;
};

// A mapping of the whole file, shared with whoever has it. Throws sdk::Error OUT_OF_RESOURCES.
[[nodiscard]] std::shared_ptr<const Mapping> map_file(int file, uint64_t bytes);
// The same for an arena that its device has mapped; it stays as long as the mapping is held.
[[nodiscard]] std::shared_ptr<const Mapping> map_own(const Arena& arena);

// A new memory file of that many bytes, which read as 0.
[[nodiscard]] int make_memory_file(const char* name, uint64_t bytes);

}  // namespace hal::xccl

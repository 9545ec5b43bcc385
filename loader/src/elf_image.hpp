// An ELF file read by pread: nothing is mapped and nothing is believed, every range is checked against the file.
#pragma once

#include <link.h>

#include <string>
#include <vector>

#include "file.hpp"

namespace hal::loader {

// What makes a file unfit; `foreign` if it is sound but for another machine.
struct ElfError {
    bool foreign;
    std::string text;  // continues a sentence whose subject is the file
};

class ElfImage {
  public:
    // Throws ElfError if it is no shared object for this machine or is cut short, FileError if it cannot be read.
    explicit ElfImage(const RegularFile& file);

    [[nodiscard]] std::string build_id() const;  // hex, empty if it has none
    [[nodiscard]] bool static_tls() const { return static_tls_; }

    // Odd in a way that the run-time linker may crash on: segments out of order or overlapping, misaligned, tables of
    // the dynamic section outside the segments.
    [[nodiscard]] bool suspicious() const { return suspicious_; }

  private:
    using Header = ElfW(Ehdr);
    using Segment = ElfW(Phdr);
    using Dynamic = ElfW(Dyn);

    void read(void* into, size_t size, uint64_t offset, const char* what) const;
    void require_range(uint64_t offset, uint64_t size, const std::string& what) const;
    void read_identity();
    void read_segments();
    void check_loads();
    void read_dynamic();
    [[nodiscard]] bool is_loaded(uint64_t address) const;

    const RegularFile& file_;
    uint64_t size_;
    Header header_{};
    std::vector<Segment> segments_;
    bool static_tls_ = false;
    bool suspicious_ = false;
};

}  // namespace hal::loader

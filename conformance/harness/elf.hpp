// What a shared object says about itself, read from the file: no code of it runs.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace hal::conformance {

struct ElfImage {
    bool elf64 = false;
    bool shared_object = false;
    uint16_t machine = 0;
    std::vector<std::string> needed;  // DT_NEEDED
    std::set<std::string> exported;   // defined for others, without version names and the linker's own marks
    std::set<std::string> undefined;  // that must come from elsewhere; weak ones need not
    std::set<std::string> unique;     // STB_GNU_UNIQUE: keep an image mapped for ever
    bool text_relocations = false;
    bool static_tls = false;
    bool stack_marked = false;  // PT_GNU_STACK is there
    bool executable_stack = false;
};

// Throws HarnessError for a file that is none, or is damaged.
[[nodiscard]] ElfImage read_elf(const std::filesystem::path& path);

// Why the system cannot open the file, as far as its headers say, "" if they say nothing: what the system itself says of
// such a file is of no help, or it dies of it.
[[nodiscard]] std::string why_unfit(const std::filesystem::path& path);

// Symbols that nothing defines among the libraries that the image names in DT_NEEDED, and those that they name. The
// libraries are looked for among those that the process has loaded.
[[nodiscard]] std::vector<std::string> unresolved_symbols(const ElfImage& image);

}  // namespace hal::conformance

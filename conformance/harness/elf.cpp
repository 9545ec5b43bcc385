#include "elf.hpp"

#include <elf.h>
#include <link.h>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "api.hpp"

namespace hal::conformance {
namespace {

// Mapped: a vendor's library may be a gigabyte, of which a case looks at a few pages.
class File {
  public:
    explicit File(const std::filesystem::path& path) : name_(path.string()) {
        try {
            region_ = {boost::interprocess::file_mapping(name_.c_str(), boost::interprocess::read_only),
                       boost::interprocess::read_only};
        } catch (const boost::interprocess::interprocess_exception& error) {
            fail(std::string("cannot be read: ") + error.what());
        }
        bytes_ = {static_cast<const char*>(region_.get_address()), region_.get_size()};
    }

    template <class T>
    [[nodiscard]] T at(uint64_t offset) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
            fail("ends in the middle of a structure");
        }
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }

    [[nodiscard]] std::string text(uint64_t offset) const {
        const size_t end = bytes_.find('\0', offset);
        if (end == std::string_view::npos) {
            fail("has a text without end");
        }
        return std::string(bytes_.substr(offset, end - offset));
    }

    [[noreturn]] void fail(const std::string& what) const { throw HarnessError(name_ + " " + what); }

  private:
    std::string name_;
    boost::interprocess::mapped_region region_;
    std::string_view bytes_;
};

struct Layout {
    std::vector<Elf64_Phdr> segments;

    // Where in the file an address lies.
    [[nodiscard]] uint64_t offset(const File& file, uint64_t address) const {
        for (const Elf64_Phdr& one : segments) {
            if (one.p_type == PT_LOAD && address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz) {
                return address - one.p_vaddr + one.p_offset;
            }
        }
        file.fail("names an address outside of its segments");
    }
};

// The number of dynamic symbols: only the section of the symbols says it directly.
struct Symbols {
    uint64_t offset = 0;
    uint64_t count = 0;
    uint64_t strings = 0;
};

Symbols dynamic_symbols(const File& file, const Elf64_Ehdr& header) {
    for (uint16_t i = 0; i < header.e_shnum; ++i) {
        const auto section = file.at<Elf64_Shdr>(header.e_shoff + uint64_t{i} * header.e_shentsize);
        if (section.sh_type == SHT_DYNSYM && section.sh_entsize == sizeof(Elf64_Sym)) {
            const auto strings = file.at<Elf64_Shdr>(header.e_shoff + uint64_t{section.sh_link} * header.e_shentsize);
            return {section.sh_offset, section.sh_size / sizeof(Elf64_Sym), strings.sh_offset};
        }
    }
    file.fail("has no section of dynamic symbols");
}

void read_dynamic(const File& file, const Layout& layout, ElfImage& image) {
    std::vector<uint64_t> needed;
    uint64_t strings = 0;
    for (const Elf64_Phdr& segment : layout.segments) {
        if (segment.p_type != PT_DYNAMIC) {
            continue;
        }
        for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
            const auto entry = file.at<Elf64_Dyn>(segment.p_offset + at);
            if (entry.d_tag == DT_NULL) {
                break;
            }
            if (entry.d_tag == DT_NEEDED) {
                needed.push_back(entry.d_un.d_val);
            } else if (entry.d_tag == DT_STRTAB) {
                strings = layout.offset(file, entry.d_un.d_ptr);
            } else if (entry.d_tag == DT_TEXTREL) {
                image.text_relocations = true;
            } else if (entry.d_tag == DT_FLAGS) {
                image.text_relocations = image.text_relocations || (entry.d_un.d_val & DF_TEXTREL) != 0;
                image.static_tls = (entry.d_un.d_val & DF_STATIC_TLS) != 0;
            }
        }
    }
    for (const uint64_t offset : needed) {
        image.needed.push_back(file.text(strings + offset));
    }
}

void read_symbols(const File& file, const Symbols& symbols, ElfImage& image) {
    static const std::set<std::string_view> marks{"_init", "_fini", "__bss_start", "_edata", "_end"};
    for (uint64_t i = 1; i < symbols.count; ++i) {
        const auto symbol = file.at<Elf64_Sym>(symbols.offset + i * sizeof(Elf64_Sym));
        const unsigned binding = ELF64_ST_BIND(symbol.st_info);
        const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
        std::string name = file.text(symbols.strings + symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF) {
            if (binding == STB_GLOBAL) {
                image.undefined.insert(std::move(name));
            }
        } else if (symbol.st_shndx != SHN_ABS && binding != STB_LOCAL && !marks.contains(name) &&
                   (visibility == STV_DEFAULT || visibility == STV_PROTECTED)) {
            if (binding == STB_GNU_UNIQUE) {
                image.unique.insert(name);
            }
            image.exported.insert(std::move(name));
        }
    }
}

// Paths of what the process has loaded, by file name.
std::map<std::string, std::string> loaded_libraries() {
    std::map<std::string, std::string> loaded;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* into) {
            const std::filesystem::path path(info->dlpi_name == nullptr ? "" : info->dlpi_name);
            (*static_cast<std::map<std::string, std::string>*>(into))[path.filename().string()] = path.string();
            return 0;
        },
        &loaded);
    return loaded;
}

// Of any file, also one that cannot be mapped, as an empty one. Nothing behind its end.
template <class T>
std::optional<T> read_at(std::ifstream& stream, uint64_t offset) {
    T value;
    stream.seekg(static_cast<std::streamoff>(offset));
    return stream.read(reinterpret_cast<char*>(&value), sizeof value) ? std::optional(value) : std::nullopt;
}

// What the run-time of a sanitizer gives, which the executable brings.
bool of_a_sanitizer(std::string_view symbol) {
    return symbol.starts_with("__asan_") || symbol.starts_with("__ubsan_") || symbol.starts_with("__tsan_") ||
           symbol.starts_with("__sanitizer_") || symbol.starts_with("__lsan_");
}

}  // namespace

ElfImage read_elf(const std::filesystem::path& path) {
    const File file(path);
    ElfImage image;
    const auto header = file.at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        file.fail("is no ELF file");
    }
    image.elf64 = header.e_ident[EI_CLASS] == ELFCLASS64;
    image.shared_object = header.e_type == ET_DYN;
    image.machine = header.e_machine;
    if (!image.elf64) {
        return image;
    }
    Layout layout;
    for (uint16_t i = 0; i < header.e_phnum; ++i) {
        layout.segments.push_back(file.at<Elf64_Phdr>(header.e_phoff + uint64_t{i} * header.e_phentsize));
        if (layout.segments.back().p_type == PT_GNU_STACK) {
            image.stack_marked = true;
            image.executable_stack = (layout.segments.back().p_flags & PF_X) != 0;
        }
    }
    read_dynamic(file, layout, image);
    if (header.e_shnum != 0) {
        read_symbols(file, dynamic_symbols(file, header), image);
    }
    return image;
}

std::string why_unfit(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ifstream own("/proc/self/exe", std::ios::binary);
    const auto header = read_at<Elf64_Ehdr>(stream, 0);
    const auto ours = read_at<Elf64_Ehdr>(own, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
        return "it is no ELF file";
    }
    if (ours && (header->e_machine != ours->e_machine || header->e_ident[EI_CLASS] != ours->e_ident[EI_CLASS])) {
        return "it is made for another machine";
    }
    const uint64_t bytes = std::filesystem::file_size(path);
    for (uint16_t i = 0; i < header->e_phnum; ++i) {
        const auto segment = read_at<Elf64_Phdr>(stream, header->e_phoff + uint64_t{i} * header->e_phentsize);
        if (!segment || (segment->p_type == PT_LOAD && segment->p_offset + segment->p_filesz > bytes)) {
            return "it is cut off: the file ends before its segments do";
        }
    }
    return {};
}

std::vector<std::string> unresolved_symbols(const ElfImage& image) {
    std::set<std::string> missing(image.undefined);
    std::erase_if(missing, [](const std::string& symbol) { return of_a_sanitizer(symbol); });
    const auto loaded = loaded_libraries();
    std::vector<std::string> waiting(image.needed);
    std::set<std::string> seen;
    while (!waiting.empty() && !missing.empty()) {
        const std::string name = waiting.back();
        waiting.pop_back();
        const auto found = loaded.find(std::filesystem::path(name).filename().string());
        if (!seen.insert(name).second || found == loaded.end() || !std::filesystem::is_regular_file(found->second)) {
            continue;
        }
        const ElfImage library = read_elf(found->second);
        for (const std::string& symbol : library.exported) {
            missing.erase(symbol);
        }
        waiting.insert(waiting.end(), library.needed.begin(), library.needed.end());
    }
    return {missing.begin(), missing.end()};
}

}  // namespace hal::conformance

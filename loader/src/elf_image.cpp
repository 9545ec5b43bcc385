#include "elf_image.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "machine.hpp"

namespace hal::loader {

namespace {

constexpr unsigned char own_class = own_bits == 64 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char own_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
constexpr uint64_t longest_table =
    1 << 20;  // bytes of a dynamic section or a note segment; real ones have a few hundred

[[noreturn]] void damaged(std::string text) {
    throw ElfError{false, std::move(text)};
}

// What people put in place of a library.
std::string kind_of_stranger(std::string_view start) {
    if (start.starts_with("MZ")) {
        return "is a Windows (PE) file, not an ELF shared object";
    }
    if (start.starts_with("!<arch>\n") || start.starts_with("!<thin>\n")) {
        return "is an archive of object files, not an ELF shared object";
    }
    constexpr std::array<std::string_view, 5> mach_o{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf",
                                                     "\xfe\xed\xfa\xce", "\xca\xfe\xba\xbe"};
    if (std::any_of(mach_o.begin(), mach_o.end(), [&](std::string_view magic) { return start.starts_with(magic); })) {
        return "is a macOS (Mach-O) file, not an ELF shared object";
    }
    const bool text = std::all_of(start.begin(), start.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte < 0x7f) || c == '\n' || c == '\r' || c == '\t';
    });
    return text ? "is a text file, not an ELF shared object" : "is not an ELF file";
}

std::string type_text(unsigned type) {
    switch (type) {
        case ET_REL:
            return "is an object file (ET_REL), not a shared object; link it with -shared";
        case ET_EXEC:
            return "is a program (ET_EXEC), not a shared object";
        case ET_CORE:
            return "is a core dump, not a shared object";
        default:
            return fmt::format("has the ELF type {}, not that of a shared object", type);
    }
}

// Tables of the dynamic section that the linker reads or writes before any code of the library runs.
bool is_address(int64_t tag) {
    constexpr std::array<int64_t, 13> tags{DT_STRTAB, DT_SYMTAB,  DT_HASH,       DT_GNU_HASH,   DT_RELA,
                                           DT_REL,    DT_JMPREL,  DT_INIT_ARRAY, DT_FINI_ARRAY, DT_VERSYM,
                                           DT_VERDEF, DT_VERNEED, DT_INIT};
    return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

}  // namespace

ElfImage::ElfImage(const RegularFile& file) : file_(file), size_(static_cast<uint64_t>(file.status.st_size)) {
    read_identity();
    read_segments();
    check_loads();
    read_dynamic();
}

void ElfImage::read(void* into, size_t size, uint64_t offset, const char* what) const {
    require_range(offset, size, what);
    auto* next = static_cast<char*>(into);
    while (size > 0) {
        const ssize_t count = pread(file_.descriptor.number(), next, size, static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            throw FileError{errno, error_text(errno)};
        }
        if (count == 0) {
            damaged("became shorter while it was read");
        }
        next += count;
        size -= static_cast<size_t>(count);
        offset += static_cast<uint64_t>(count);
    }
}

void ElfImage::require_range(uint64_t offset, uint64_t size, const std::string& what) const {
    if (offset > size_ || size > size_ - offset) {
        const bool overflow = size > UINT64_MAX - offset;
        damaged(fmt::format("is truncated or damaged: {} ends at {}, the file has {} bytes", what,
                            overflow ? "no valid offset" : std::to_string(offset + size), size_));
    }
}

void ElfImage::read_identity() {
    Header& header = header_;
    if (size_ == 0) {
        damaged("is empty");
    }
    const size_t there = std::min<uint64_t>(size_, sizeof(header));
    read(&header, there, 0, "the start");
    const std::string_view start(reinterpret_cast<const char*>(&header), there);
    const std::string_view magic(ELFMAG, SELFMAG);
    if (start.substr(0, SELFMAG) != magic.substr(0, std::min<size_t>(there, SELFMAG))) {
        damaged(kind_of_stranger(start));
    }
    if (there < EI_NIDENT + 4) {
        damaged(fmt::format("is truncated: it has {} bytes, fewer than an ELF header", size_));
    }
    // Type and machine lie at one place in both classes.
    const bool same_order = header.e_ident[EI_DATA] == own_order;
    const uint16_t machine =
        same_order ? header.e_machine : static_cast<uint16_t>(header.e_machine << 8 | header.e_machine >> 8);
    const unsigned bits = header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    if (header.e_ident[EI_CLASS] != own_class || !same_order || machine != own_machine) {
        const bool sane = header.e_ident[EI_CLASS] >= ELFCLASS32 && header.e_ident[EI_CLASS] <= ELFCLASS64 &&
                          header.e_ident[EI_DATA] >= ELFDATA2LSB && header.e_ident[EI_DATA] <= ELFDATA2MSB;
        if (!sane) {
            damaged("is damaged: its ELF class or byte order is none");
        }
        const char* order = header.e_ident[EI_DATA] == ELFDATA2LSB ? "little" : "big";
        throw ElfError{true, fmt::format("is for {} ({} bit, {} endian), this process is {} ({} bit, {} endian)",
                                         machine_name(machine, bits), bits, order, machine_name(own_machine, own_bits),
                                         own_bits, own_order == ELFDATA2LSB ? "little" : "big")};
    }
    if (there < sizeof(header)) {
        damaged(fmt::format("is truncated: it has {} bytes, fewer than an ELF header", size_));
    }
    if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT) {
        damaged("is damaged: its ELF version is not 1");
    }
    if (header.e_type != ET_DYN) {
        damaged(type_text(header.e_type));
    }
}

void ElfImage::read_segments() {
    if (header_.e_phentsize != sizeof(Segment) || header_.e_phnum == 0 || header_.e_phnum == PN_XNUM) {
        damaged(fmt::format("is damaged: {} program headers of {} bytes", header_.e_phnum, header_.e_phentsize));
    }
    segments_.resize(header_.e_phnum);
    read(segments_.data(), segments_.size() * sizeof(Segment), header_.e_phoff, "the program header table");
    // The linker does without sections, but they are the last thing in a file: this is what tells of a copy cut short.
    if (header_.e_shoff != 0) {
        require_range(header_.e_shoff, uint64_t{std::max<uint16_t>(header_.e_shnum, 1)} * header_.e_shentsize,
                      "the section header table");
    }
}

void ElfImage::check_loads() {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    bool any = false;
    uint64_t end = 0;  // of the addresses so far
    for (const Segment& segment : segments_) {
        if (segment.p_type != PT_LOAD) {
            continue;
        }
        require_range(segment.p_offset, segment.p_filesz, "a segment");
        if (segment.p_filesz > segment.p_memsz || segment.p_memsz > UINT64_MAX - segment.p_vaddr) {
            damaged(fmt::format("is damaged: a segment of {} bytes occupies {} in memory at {:#x}", segment.p_filesz,
                                segment.p_memsz, segment.p_vaddr));
        }
        const bool alignment = segment.p_align <= 1 || std::has_single_bit(segment.p_align);
        const bool congruent = (segment.p_vaddr - segment.p_offset) % page == 0;
        suspicious_ = suspicious_ || !alignment || !congruent || (any && segment.p_vaddr < end);
        end = segment.p_vaddr + segment.p_memsz;
        any = true;
    }
    if (!any) {
        damaged("is damaged: it has no loadable segment");
    }
}

void ElfImage::read_dynamic() {
    const auto is_dynamic = [](const Segment& segment) { return segment.p_type == PT_DYNAMIC; };
    const auto dynamic = std::find_if(segments_.begin(), segments_.end(), is_dynamic);
    if (dynamic == segments_.end()) {
        damaged("has no dynamic section; it is not a shared object (perhaps a file of debug symbols)");
    }
    require_range(dynamic->p_offset, dynamic->p_filesz, "the dynamic section");
    if (dynamic->p_filesz > longest_table || dynamic->p_filesz < sizeof(Dynamic)) {
        damaged(fmt::format("is damaged: its dynamic section has {} bytes", dynamic->p_filesz));
    }
    suspicious_ = suspicious_ || !is_loaded(dynamic->p_vaddr);
    std::vector<Dynamic> entries(dynamic->p_filesz / sizeof(Dynamic));
    read(entries.data(), entries.size() * sizeof(Dynamic), dynamic->p_offset, "the dynamic section");
    bool ended = false;
    bool strings = false;
    bool symbols = false;
    for (const Dynamic& entry : entries) {
        if (entry.d_tag == DT_NULL) {
            ended = true;
            break;
        }
        if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE) != 0) {
            damaged("is a program (position independent), not a shared object");
        }
        static_tls_ = static_tls_ || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_STATIC_TLS) != 0);
        strings = strings || entry.d_tag == DT_STRTAB;
        symbols = symbols || entry.d_tag == DT_SYMTAB;
        suspicious_ = suspicious_ || (is_address(entry.d_tag) && !is_loaded(entry.d_un.d_ptr));
    }
    suspicious_ = suspicious_ || !ended || !strings || !symbols;
}

bool ElfImage::is_loaded(uint64_t address) const {
    return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
        return segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz;
    });
}

std::string ElfImage::build_id() const {
    for (const Segment& segment : segments_) {
        if (segment.p_type != PT_NOTE || segment.p_filesz > longest_table) {
            continue;
        }
        std::vector<unsigned char> notes(segment.p_filesz);
        read(notes.data(), notes.size(), segment.p_offset, "a note");
        const uint64_t alignment = segment.p_align == 8 ? 8 : 4;
        const auto padded = [&](uint64_t size) { return (size + alignment - 1) & ~(alignment - 1); };
        ElfW(Nhdr) note{};
        for (uint64_t place = 0; notes.size() - place >= sizeof(note);) {
            std::memcpy(&note, notes.data() + place, sizeof(note));
            const uint64_t name = place + sizeof(note);
            const uint64_t description = place + padded(sizeof(note) + uint64_t{note.n_namesz});
            const uint64_t end = description + note.n_descsz;  // sums of 32-bit sizes cannot overflow
            if (end > notes.size()) {
                break;
            }
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
                std::memcmp(notes.data() + name, "GNU", 4) == 0) {
                return fmt::format("{:02x}", fmt::join(notes.begin() + static_cast<std::ptrdiff_t>(description),
                                                       notes.begin() + static_cast<std::ptrdiff_t>(end), ""));
            }
            place = std::min<uint64_t>(place + padded(end - place), notes.size());
        }
    }
    return "";
}

}  // namespace hal::loader

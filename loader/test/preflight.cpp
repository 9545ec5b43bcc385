#include "preflight.hpp"

#include <elf.h>
#include <link.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "machine.hpp"
#include "problem.hpp"
#include "scratch.hpp"

using namespace hal::loader;
using namespace hal::loader::test;

namespace {

struct Outcome {
    std::string code;  // empty: passed
    std::string cause;
    hal_backend_state state = HAL_STATE_DISCOVERED;
    Library library;
};

Outcome look_at(const std::string& path, bool elevated = false) {
    Outcome outcome;
    try {
        outcome.library = preflight(path, elevated);
    } catch (const Refusal& refusal) {
        outcome.code = refusal.problem().code;
        outcome.cause = refusal.problem().cause;
        outcome.state = refusal.problem().state;
        CHECK_FALSE(refusal.problem().next_step.empty());
    }
    return outcome;
}

void check(const Outcome& outcome, std::string_view code, std::string_view part) {
    INFO("code " << outcome.code << ", cause " << outcome.cause);
    CHECK(outcome.code == code);
    CHECK(outcome.cause.find(part) != std::string::npos);
}

std::string content(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

const std::string& tiny() {
    static const std::string bytes = content(HAL_TEST_TINY_LIBRARY);
    return bytes;
}

// A field of the tiny library's header or tables, to be changed.
template <typename T>
T& field(std::string& bytes, size_t place) {
    return *reinterpret_cast<T*>(bytes.data() + place);
}
ElfW(Ehdr) & header(std::string& bytes) {
    return field<ElfW(Ehdr)>(bytes, 0);
}
ElfW(Phdr) & segment(std::string& bytes, uint32_t type) {
    for (size_t i = 0; i < header(bytes).e_phnum; ++i) {
        auto& one = field<ElfW(Phdr)>(bytes, header(bytes).e_phoff + i * sizeof(ElfW(Phdr)));
        if (one.p_type == type) {
            return one;
        }
    }
    throw std::runtime_error("no such segment");
}
ElfW(Dyn) & dynamic(std::string& bytes, int64_t tag) {
    for (size_t place = segment(bytes, PT_DYNAMIC).p_offset;; place += sizeof(ElfW(Dyn))) {
        auto& entry = field<ElfW(Dyn)>(bytes, place);
        if (entry.d_tag == tag) {
            return entry;
        }
        if (entry.d_tag == DT_NULL) {
            throw std::runtime_error("no such dynamic entry");
        }
    }
}

// What the preflight says of the tiny library after a change.
template <typename Change>
Outcome changed(const Change& change) {
    const Scratch scratch;
    std::string bytes = tiny();
    change(bytes);
    return look_at(scratch.write("lib.so", bytes));
}

}  // namespace

TEST_CASE("a sound library passes, with its build id") {
    const Outcome outcome = look_at(HAL_TEST_TINY_LIBRARY);
    CHECK(outcome.code.empty());
    CHECK(outcome.library.path == HAL_TEST_TINY_LIBRARY);
    CHECK(outcome.library.build_id == "0123456789abcdef0123");  // given to the linker
    CHECK_FALSE(outcome.library.suspicious);
    CHECK_FALSE(outcome.library.static_tls);
}

TEST_CASE("a library cut short anywhere is refused") {
    const Scratch scratch;
    const std::string path = scratch.write("lib.so", tiny());
    REQUIRE(look_at(path).code.empty());
    for (size_t length = tiny().size() - 1;; --length) {
        std::filesystem::resize_file(path, length);
        const Outcome outcome = look_at(path);
        if (outcome.code != "L022") {
            FAIL("length " << length << ": " << outcome.code << " " << outcome.cause);
        }
        if (length == 0) {
            check(outcome, "L022", "lib.so is empty");
            break;
        }
    }
    check(changed([](std::string& bytes) { bytes.resize(bytes.size() / 2); }), "L022", "is truncated or damaged: ");
    check(changed([](std::string& bytes) { bytes.resize(40); }), "L022", "it has 40 bytes, fewer than an ELF header");
}

TEST_CASE("other machines, with both sides") {
    const auto for_machine = [](uint16_t machine, unsigned char elf_class, unsigned char order) {
        return changed([&](std::string& bytes) {
            header(bytes).e_machine =
                order == ELFDATA2MSB ? static_cast<uint16_t>(machine << 8 | machine >> 8) : machine;
            header(bytes).e_ident[EI_CLASS] = elf_class;
            header(bytes).e_ident[EI_DATA] = order;
        });
    };
    const std::string own = machine_name(own_machine, own_bits);
    const auto [machine, elf_class, order, name] = GENERATE(table<int, int, int, const char*>({
        {EM_386, ELFCLASS32, ELFDATA2LSB, "is for i386 (32 bit, little endian)"},
        {EM_ARM, ELFCLASS32, ELFDATA2LSB, "is for arm (32 bit"},
        {EM_RISCV, ELFCLASS64, ELFDATA2LSB, "is for riscv64 (64 bit"},
        {EM_RISCV, ELFCLASS32, ELFDATA2LSB, "is for riscv32 (32 bit"},
        {258, ELFCLASS64, ELFDATA2LSB, "is for loongarch64 (64 bit"},
        {EM_PPC64, ELFCLASS64, ELFDATA2MSB, "is for ppc64 (64 bit, big endian)"},
        {EM_S390, ELFCLASS64, ELFDATA2MSB, "is for s390x (64 bit, big endian)"},
        {0x1234, ELFCLASS64, ELFDATA2LSB, "is for machine 4660 (64 bit"},
    }));
    const Outcome outcome = for_machine(static_cast<uint16_t>(machine), static_cast<unsigned char>(elf_class),
                                        static_cast<unsigned char>(order));
    check(outcome, "L021", name);
    check(outcome, "L021", "this process is " + own);
    CHECK(outcome.state == HAL_STATE_ARCH_MISMATCH);
#if defined(__x86_64__)
    check(for_machine(EM_AARCH64, ELFCLASS64, ELFDATA2LSB), "L021", "is for aarch64 (64 bit");
    check(for_machine(EM_X86_64, ELFCLASS32, ELFDATA2LSB), "L021", "is for x32 (32 bit");
#endif
    // A 32-bit library may be shorter than a 64-bit header and is still named rightly.
    check(changed([](std::string& bytes) {
              header(bytes).e_ident[EI_CLASS] = ELFCLASS32;
              header(bytes).e_machine = EM_386;
              bytes.resize(52);
          }),
          "L021", "is for i386");
}

TEST_CASE("ELF files of other kinds") {
    const auto of_type = [](uint16_t type) {
        return changed([&](std::string& bytes) { header(bytes).e_type = type; });
    };
    check(of_type(ET_EXEC), "L022", "is a program (ET_EXEC), not a shared object");
    check(of_type(ET_REL), "L022", "is an object file (ET_REL)");
    check(of_type(ET_CORE), "L022", "is a core dump");
    check(of_type(ET_NONE), "L022", "ELF type 0");
    check(look_at("/proc/self/exe"), "L022", "is a program (");
}

TEST_CASE("files of other kinds") {
    const Scratch scratch;
    const auto of = [&](std::string_view bytes) { return look_at(scratch.write("lib.so", bytes)); };
    check(of("#!/bin/sh\nexit 0\n"), "L022", "is a text file, not an ELF shared object");
    check(of("/* GNU ld script */\nINPUT(libc.so.6)\n" + std::string(100, ' ')), "L022", "is a text file");
    check(of(std::string("MZ\x90\0", 4) + std::string(100, '\0')), "L022", "is a Windows (PE) file");
    check(of("!<arch>\n" + std::string(100, ' ')), "L022", "is an archive of object files");
    check(of("\xcf\xfa\xed\xfe" + std::string(100, '\0')), "L022", "is a macOS (Mach-O) file");
    check(of(std::string(1000, '\x80')), "L022", "is not an ELF file");
    check(of(std::string(1000, '\0')), "L022", "is not an ELF file");
    check(of("\x7f"
             "ELF"),
          "L022", "is truncated: it has 4 bytes");
    check(of("\x7f"
             "ELF" +
             std::string(1000, '\xff')),
          "L022", "its ELF class or byte order is none");
}

TEST_CASE("things that are no regular files are refused at once") {
    const Scratch scratch;
    REQUIRE(mkfifo(scratch.path("fifo.so").c_str(), 0600) == 0);
    check(look_at(scratch.path("fifo.so")), "L022", "fifo.so is a FIFO, not a regular file");
    check(look_at(scratch.path()), "L022", "is a directory");
    check(look_at("/dev/zero"), "L022", "/dev/zero is a device");
    check(look_at("/proc/self/mem"), "L022", "/proc/self/mem is empty");
    check(look_at(scratch.path("absent.so")), "L020", "absent.so: library not found");
    CHECK(look_at(scratch.path("absent.so")).state == HAL_STATE_LIBRARY_NOT_FOUND);
}

TEST_CASE("headers that lie about the file") {
    constexpr uint64_t most = ~uint64_t{0};
    check(changed([](std::string& bytes) { header(bytes).e_phnum = 0; }), "L022", "0 program headers");
    check(changed([](std::string& bytes) { header(bytes).e_phnum = PN_XNUM; }), "L022", "65535 program headers");
    check(changed([](std::string& bytes) { header(bytes).e_phnum = 60000; }), "L022",
          "the program header table ends at ");
    check(changed([](std::string& bytes) { header(bytes).e_phentsize = 32; }), "L022", "program headers of 32 bytes");
    check(changed([](std::string& bytes) { header(bytes).e_phoff = most; }), "L022", "ends at no valid offset");
    check(changed([](std::string& bytes) { header(bytes).e_phoff = most - 100; }), "L022", "ends at no valid offset");
    check(changed([](std::string& bytes) { header(bytes).e_shoff = most - 10; }), "L022", "the section header table");
    check(changed([](std::string& bytes) { header(bytes).e_version = 2; }), "L022", "its ELF version is not 1");
    check(changed([](std::string& bytes) { segment(bytes, PT_LOAD).p_offset = most - 8; }), "L022",
          "a segment ends at ");
    check(changed([](std::string& bytes) { segment(bytes, PT_LOAD).p_filesz = most; }), "L022", "a segment ends at ");
    check(changed([](std::string& bytes) { segment(bytes, PT_LOAD).p_memsz = 1; }), "L022", "occupies 1 in memory");
    check(changed([](std::string& bytes) {
              segment(bytes, PT_LOAD).p_memsz = most;
              segment(bytes, PT_LOAD).p_vaddr = 4096;
          }),
          "L022", "in memory at 0x1000");
    check(changed([](std::string& bytes) { segment(bytes, PT_DYNAMIC).p_offset = most; }), "L022",
          "the dynamic section ends");
    check(changed([](std::string& bytes) { segment(bytes, PT_DYNAMIC).p_filesz = 3; }), "L022",
          "its dynamic section has 3");
    check(changed([](std::string& bytes) { segment(bytes, PT_DYNAMIC).p_type = PT_NULL; }), "L022",
          "has no dynamic section");
    check(changed([](std::string& bytes) {
              for (size_t i = 0; i < header(bytes).e_phnum; ++i) {
                  auto& one = field<ElfW(Phdr)>(bytes, header(bytes).e_phoff + i * sizeof(ElfW(Phdr)));
                  one.p_type = one.p_type == PT_LOAD ? uint32_t{PT_NULL} : one.p_type;
              }
          }),
          "L022", "no loadable segment");
    check(changed([](std::string& bytes) { segment(bytes, PT_NOTE).p_offset = most - 3; }), "L022", "a note ends");
    check(changed([](std::string& bytes) {
              auto& entry = dynamic(bytes, DT_STRTAB);
              entry.d_tag = DT_FLAGS_1;
              entry.d_un.d_val = DF_1_PIE;
          }),
          "L022", "is a program (position independent)");
}

TEST_CASE("libraries that the linker might crash on are told apart") {
    const auto suspicious = [](const Outcome& outcome) { return outcome.code.empty() && outcome.library.suspicious; };
    CHECK(suspicious(changed([](std::string& bytes) { dynamic(bytes, DT_STRTAB).d_un.d_ptr = 1u << 30; })));
    CHECK(suspicious(changed([](std::string& bytes) { dynamic(bytes, DT_SYMTAB).d_tag = DT_DEBUG; })));
    CHECK(suspicious(changed([](std::string& bytes) { segment(bytes, PT_LOAD).p_vaddr += 1; })));
    CHECK(suspicious(changed([](std::string& bytes) { segment(bytes, PT_LOAD).p_align = 3; })));
    CHECK(suspicious(changed([](std::string& bytes) { segment(bytes, PT_LOAD).p_memsz += 1u << 30; })));  // overlap
    CHECK(suspicious(changed([](std::string& bytes) { segment(bytes, PT_DYNAMIC).p_vaddr = 1u << 30; })));
}

TEST_CASE("static TLS is reported") {
    const Outcome outcome = changed([](std::string& bytes) {
        auto& entry = dynamic(bytes, DT_RELACOUNT);
        entry.d_tag = DT_FLAGS;
        entry.d_un.d_val = DF_STATIC_TLS;
    });
    CHECK(outcome.code.empty());
    CHECK(outcome.library.static_tls);
}

TEST_CASE("random damage to the headers never harms the reader") {
    const Scratch scratch;
    std::mt19937 random(7);
    std::string bytes = tiny();
    const size_t tables = header(bytes).e_phoff + header(bytes).e_phnum * sizeof(ElfW(Phdr));
    const size_t notes = segment(bytes, PT_DYNAMIC).p_offset;
    size_t refused = 0;
    const std::string path = scratch.write("lib.so", bytes);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (int run = 0; run < 3000; ++run) {
        bytes = tiny();
        for (int edit = 0; edit < 3; ++edit) {
            const size_t place = run % 3 == 0 ? notes + random() % 400 : random() % (tables + 200);
            bytes.at(place) = static_cast<char>(random());
        }
        // In place: a file that is replaced by a shorter one first is written through to the disk at once.
        file.seekp(0).write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
        REQUIRE(file.good());
        const Outcome outcome = look_at(path);
        refused += outcome.code.empty() ? 0 : 1;
        CHECK((outcome.code.empty() || outcome.code == "L021" || outcome.code == "L022"));
    }
    CHECK(refused > 300);
    CHECK(refused < 3000);
}

TEST_CASE("who may write to the library, in a privileged process") {
    const Scratch scratch;
    const std::string path = scratch.write("dir/lib.so", tiny());
    const std::string directory = scratch.path("dir");
    REQUIRE(chmod(directory.c_str(), 0755) == 0);
    REQUIRE(chmod(path.c_str(), 0755) == 0);
    CHECK(look_at(path, true).code.empty());
    REQUIRE(chmod(path.c_str(), 0777) == 0);
    check(look_at(path, true), "L026", "lib.so is writable by others; refused in a privileged process");
    CHECK(look_at(path, true).state == HAL_STATE_LIBRARY_UNSAFE);
    CHECK(look_at(path, false).code == (geteuid() == 0 ? "L026" : ""));
    REQUIRE(chmod(path.c_str(), 0755) == 0);
    REQUIRE(chmod(directory.c_str(), 0777) == 0);
    check(look_at(path, true), "L026", "dir (the library's directory) is writable by others");
    REQUIRE(chmod(directory.c_str(), 01777) == 0);
    CHECK(look_at(path, true).code.empty());  // as in /tmp: others cannot replace it
    if (geteuid() == 0) {
        REQUIRE(chmod(directory.c_str(), 0755) == 0);
        REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
        check(look_at(path, true), "L026", "lib.so belongs to another user");
        CHECK(look_at(path, false).code.empty());
    }
}

TEST_CASE("no good library of this machine is refused") {
    size_t tried = 0;
    for (const char* directory :
         {"/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"}) {
        std::error_code error;
        for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string path = entry->path().string();
            const bool library = path.find(".so") != std::string::npos && entry->is_regular_file(error);
            std::ifstream stream(path, std::ios::binary);
            std::string start(sizeof(ElfW(Ehdr)), '\0');
            // Others are linker scripts, or for another machine.
            if (!library || !stream.read(start.data(), static_cast<std::streamsize>(start.size())) ||
                !start.starts_with(ELFMAG) || start[EI_CLASS] != (own_bits == 64 ? ELFCLASS64 : ELFCLASS32) ||
                header(start).e_machine != own_machine || header(start).e_type != ET_DYN) {
                continue;
            }
            const Outcome outcome = look_at(path);
            INFO(path << ": " << outcome.cause);
            CHECK(outcome.code.empty());
            CHECK_FALSE(outcome.library.suspicious);
            ++tried;
        }
    }
    CHECK(tried > 20);
}

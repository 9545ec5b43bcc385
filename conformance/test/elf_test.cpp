// The reader against libraries of the system, this program and damaged files.
#include "harness/elf.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "harness/api.hpp"

using namespace hal::conformance;

namespace {

std::string path_of(std::string_view library) {
    struct Search {
        std::string_view name;
        std::string path;
    } search{library, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* into) {
            auto& wanted = *static_cast<Search*>(into);
            const std::string path(info->dlpi_name);
            if (path.find(wanted.name) != std::string::npos) {
                wanted.path = path;
            }
            return 0;
        },
        &search);
    return search.path;
}

}  // namespace

TEST_CASE("a library of the system: its symbols, its needs, nothing missing") {
    const ElfImage image = read_elf(path_of("libstdc++"));
    CHECK(image.elf64);
    CHECK(image.shared_object);
    CHECK(image.exported.contains("_ZSt9terminatev"));
    CHECK(std::find(image.needed.begin(), image.needed.end(), "libc.so.6") != image.needed.end());
    CHECK(image.undefined.contains("malloc"));
    CHECK(image.stack_marked);
    CHECK_FALSE(image.executable_stack);
    CHECK_FALSE(image.text_relocations);
    CHECK(unresolved_symbols(image).empty());
    CHECK(read_elf("/proc/self/exe").machine == image.machine);
}

TEST_CASE("a library that is not named leaves its symbols missing") {
    ElfImage image = read_elf(path_of("libstdc++"));
    std::erase(image.needed, "libc.so.6");
    std::erase(image.needed, "libm.so.6");
    std::erase(image.needed, "libgcc_s.so.1");
    const auto missing = unresolved_symbols(image);
    CHECK(std::find(missing.begin(), missing.end(), "malloc") != missing.end());
}

TEST_CASE("files that are none") {
    CHECK_THROWS_AS(read_elf("/dev/null"), HarnessError);
    CHECK_THROWS_AS(read_elf("/proc/self/status"), HarnessError);
    const auto path = std::filesystem::temp_directory_path() / "hal_elf_test";
    {
        std::ifstream whole("/proc/self/exe", std::ios::binary);
        std::vector<char> part(1000);
        whole.read(part.data(), 1000);
        std::ofstream(path, std::ios::binary).write(part.data(), 1000);
    }
    CHECK_THROWS_AS(read_elf(path), HarnessError);
    std::filesystem::remove(path);
}

TEST_CASE("why a file cannot be opened") {
    CHECK(why_unfit(path_of("libstdc++")).empty());
    CHECK(why_unfit("/proc/self/exe").empty());
    CHECK(why_unfit("/dev/null") == "it is no ELF file");
    CHECK(why_unfit("/proc/self/status") == "it is no ELF file");
    const auto path = std::filesystem::temp_directory_path() / ("hal_elf_test." + std::to_string(getpid()));
    const auto write_part = [&](size_t size, char machine) {
        std::ifstream whole("/proc/self/exe", std::ios::binary);
        std::vector<char> part(size);
        whole.read(part.data(), static_cast<std::streamsize>(size));
        part[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(part[offsetof(Elf64_Ehdr, e_machine)] + machine);
        std::ofstream(path, std::ios::binary).write(part.data(), static_cast<std::streamsize>(size));
    };
    write_part(5000, 0);
    CHECK(why_unfit(path) == "it is cut off: the file ends before its segments do");
    write_part(100, 0);  // in the middle of the segments' table
    CHECK(why_unfit(path) == "it is cut off: the file ends before its segments do");
    write_part(5000, 1);
    CHECK(why_unfit(path) == "it is made for another machine");
    std::filesystem::remove(path);
}

// The reader against libraries of the system, this program and damaged files.
#include "harness/elf.hpp"

#include <elf.h>
#include <link.h>

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

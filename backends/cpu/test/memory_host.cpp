// Page-locked and registered host memory.
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "host_memory.hpp"
#include "self_process.hpp"
#include "test_host.hpp"

namespace hal::cpu {
namespace {

using test::status_of;

uint64_t locked_kib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        if (word == "VmLck:") {
            uint64_t kib = 0;
            status >> kib;
            return kib;
        }
    }
    return 0;
}

// The sanitizers replace mlock by nothing and report success, so nothing is to be seen there.
bool locks_are_real() {
    return mlock(nullptr, 1) != 0;
}

uint64_t page() {
    return static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST_CASE("allocated host memory says truly whether it is locked") {
    const test::Host host;
    HostMemory memory(host.get());
    const uint64_t before = locked_kib();
    void* block = memory.allocate(100'001);
    std::memset(block, 0xff, 100'001);
    const auto found = memory.find(reinterpret_cast<uint64_t>(block) + 100'000);
    REQUIRE(found);
    REQUIRE(found->base == reinterpret_cast<uint64_t>(block));
    REQUIRE(found->bytes == 100'001);
    REQUIRE_FALSE(found->registered);
    REQUIRE((!locks_are_real() || (locked_kib() >= before + 100) == found->locked));
    REQUIRE_FALSE(memory.find(found->base + 100'001));
    REQUIRE_FALSE(memory.find(found->base - 1));
    REQUIRE_FALSE(memory.deallocate(found->base + 1));
    REQUIRE_FALSE(memory.remove(found->base));
    REQUIRE(memory.deallocate(found->base));
    REQUIRE_FALSE(memory.deallocate(found->base));
    REQUIRE(locked_kib() == before);
}

TEST_CASE("sizes that no system has") {
    const test::Host host;
    HostMemory memory(host.get());
    for (const uint64_t bytes : {UINT64_MAX, UINT64_MAX - 4095, UINT64_MAX / 2}) {
        REQUIRE(status_of([&] { static_cast<void>(memory.allocate(bytes)); }) == HAL_ERROR_OUT_OF_HOST_MEMORY);
    }
    REQUIRE(memory.allocations() == 0);
}

TEST_CASE("registered ranges: any bytes, no overlap, no hole") {
    const test::Host host;
    HostMemory memory(host.get());
    std::vector<char> buffer(10'000);
    const auto address = reinterpret_cast<uint64_t>(buffer.data());
    memory.add(address + 100, 200);
    memory.add(address + 300, 1);  // right behind it
    std::string text;
    for (const auto& [offset, bytes] : {std::pair{0, 101}, {100, 200}, {150, 10}, {299, 5}, {0, 10'000}}) {
        REQUIRE(status_of([&, at = address + static_cast<uint64_t>(offset),
                           n = static_cast<uint64_t>(bytes)] { memory.add(at, n); },
                          &text) == HAL_ERROR_ALREADY_EXISTS);
        REQUIRE(text.find("unregister") != std::string::npos);
    }
    REQUIRE(memory.registrations() == 2);
    REQUIRE(memory.allocations() == 0);
    REQUIRE(memory.find(address + 299)->registered);
    REQUIRE_FALSE(memory.remove(address + 101));
    REQUIRE(memory.remove(address + 100));
    REQUIRE_FALSE(memory.remove(address + 100));
    memory.add(address, 300);
    REQUIRE(memory.registrations() == 2);
}

TEST_CASE("a range with an unmapped page is refused") {
    const test::Host host;
    HostMemory memory(host.get());
    auto* pages = static_cast<char*>(mmap(nullptr, 3 * page(), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages != MAP_FAILED);
    REQUIRE(munmap(pages + page(), page()) == 0);
    const auto address = reinterpret_cast<uint64_t>(pages);
    REQUIRE(status_of([&] { memory.add(address, 3 * page()); }) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(status_of([&] { memory.add(address, page() + 1); }) == HAL_ERROR_INVALID_ARGUMENT);
    memory.add(address, page());
    REQUIRE(memory.remove(address));
    munmap(pages, page());
    munmap(pages + 2 * page(), page());
}

TEST_CASE("registered pages are unlocked again") {
    const test::Host host;
    HostMemory memory(host.get());
    const uint64_t before = locked_kib();
    auto* pages =
        static_cast<char*>(mmap(nullptr, 16 * page(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(pages != MAP_FAILED);
    const auto address = reinterpret_cast<uint64_t>(pages);
    memory.add(address, 16 * page());
    REQUIRE((!locks_are_real() || (locked_kib() > before) == memory.find(address)->locked));
    REQUIRE(memory.remove(address));
    REQUIRE(locked_kib() == before);
    munmap(pages, 16 * page());
}

// In a process that may lock nothing.
TEST_CASE("without the right to lock", "[.]") {
    __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    REQUIRE(syscall(SYS_capset, &head, none) == 0);
    const rlimit nothing{0, 0};
    REQUIRE(setrlimit(RLIMIT_MEMLOCK, &nothing) == 0);

    static int told = 0;
    const test::Host base;
    hal_host host = *base.get();
    host.log = [](const hal_host*, uint32_t level, const char* text) {
        told += level == HAL_LOG_INFO && std::strstr(text, "RLIMIT_MEMLOCK") != nullptr ? 1 : 100;
    };
    HostMemory memory(&host);
    for (int i = 0; i < 3; ++i) {
        void* block = memory.allocate(8192);
        std::memset(block, 1, 8192);
        REQUIRE_FALSE(memory.find(reinterpret_cast<uint64_t>(block))->locked);
    }
    std::vector<char> mine(5000);
    memory.add(reinterpret_cast<uint64_t>(mine.data()), mine.size());
    REQUIRE_FALSE(memory.find(reinterpret_cast<uint64_t>(mine.data()))->locked);
    REQUIRE(told == 1);
}

TEST_CASE("a process that may lock nothing still gets host memory, and one line of log") {
    if (!locks_are_real()) {
        WARN("a sanitizer hides mlock: not tested in this build");
        return;
    }
    test::SelfProcess process("without the right to lock");
    REQUIRE(process.finish() == 0);
}

}  // namespace
}  // namespace hal::cpu

// Table 2 through its slots: arguments, messages, copies, order on streams, statistics.
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "memory_fixture.hpp"

namespace hal::cpu {
namespace {

using test::contains;
using test::Machine;

TEST_CASE("allocation refuses what it can not do, and leaves the output alone") {
    Machine machine;
    hal_dptr ptr = 77;
    void* host = &ptr;
    REQUIRE(memory_table.device_memory_allocate(machine.self(), 0, 0, &ptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "size_bytes is 0"));
    REQUIRE(memory_table.unified_memory_allocate(machine.self(), 0, 0, &ptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.host_memory_allocate(machine.self(), 0, 0, &host) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.device_memory_allocate(machine.self(), 0, 64, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "out_ptr is NULL"));
    REQUIRE(memory_table.unified_memory_allocate(machine.self(), 0, 64, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.host_memory_allocate(machine.self(), 0, 64, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    for (const hal_dev device : {-1, 2, 1000}) {
        REQUIRE(memory_table.device_memory_allocate(machine.self(), device, 64, &ptr) == HAL_ERROR_INVALID_DEVICE);
        REQUIRE(memory_table.host_memory_allocate(machine.self(), device, 64, &host) == HAL_ERROR_INVALID_DEVICE);
    }
    for (const uint64_t bytes : {Machine::limit + 1, UINT64_MAX, UINT64_MAX - 255}) {
        REQUIRE(memory_table.device_memory_allocate(machine.self(), 0, bytes, &ptr) == HAL_ERROR_OUT_OF_DEVICE_MEMORY);
        REQUIRE(contains(machine.text(), std::to_string(bytes)));
        REQUIRE(contains(machine.text(), std::to_string(Machine::limit)));
    }
    REQUIRE(ptr == 77);
    REQUIRE(host == &ptr);
    REQUIRE(machine.stats(0).live_allocations == 0);
    machine.allocate(0, 1);
}

TEST_CASE("a free names what is wrong and frees nothing") {
    Machine machine;
    const hal_dptr ptr = machine.allocate(0, 1000);
    hal_dptr unified = 0;
    REQUIRE(memory_table.unified_memory_allocate(machine.self(), 1, 500, &unified) == HAL_OK);
    const auto free = [&](hal_dev device, hal_dptr address, uint64_t bytes) {
        return memory_table.device_memory_deallocate(machine.self(), device, address, bytes);
    };
    REQUIRE(free(0, 0, 0) == HAL_OK);
    REQUIRE(free(0, 0, 123) == HAL_OK);
    REQUIRE(free(0, ptr, 999) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "1000"));
    REQUIRE(free(1, ptr, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(contains(machine.text(), "of device 0"));
    REQUIRE(free(0, ptr + 8, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(contains(machine.text(), "not where an allocation begins"));
    REQUIRE(free(0, 0xdead000, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(contains(machine.text(), "no memory of this backend"));
    REQUIRE(free(1, unified, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(contains(machine.text(), "unified_memory_deallocate"));
    REQUIRE(memory_table.unified_memory_deallocate(machine.self(), 0, ptr, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(machine.stats(0).live_allocations == 1);
    REQUIRE(memory_table.unified_memory_deallocate(machine.self(), 1, unified, 500) == HAL_OK);
    REQUIRE(free(0, ptr, 1000) == HAL_OK);
    REQUIRE(free(0, ptr, 1000) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(contains(machine.text(), "freed memory of device 0"));
}

TEST_CASE("host memory: the same rules") {
    Machine machine;
    void* ptr = nullptr;
    REQUIRE(memory_table.host_memory_allocate(machine.self(), 0, 5000, &ptr) == HAL_OK);
    std::memset(ptr, 0x11, 5000);
    const auto free = [&](hal_dev device, void* address, uint64_t bytes) {
        return memory_table.host_memory_deallocate(machine.self(), device, address, bytes);
    };
    REQUIRE(free(0, nullptr, 0) == HAL_OK);
    REQUIRE(free(0, ptr, 4999) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(free(1, ptr, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(contains(machine.text(), "of device 0"));
    REQUIRE(free(0, static_cast<char*>(ptr) + 1, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(free(0, &machine, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(free(0, ptr, 5000) == HAL_OK);
    REQUIRE(free(0, ptr, 5000) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(memory_table.host_memory_allocate(machine.self(), 0, UINT64_MAX - 10, &ptr) ==
            HAL_ERROR_OUT_OF_HOST_MEMORY);
}

TEST_CASE("synchronous copies move every byte and no other") {
    Machine machine;
    const hal_dptr a = machine.allocate(0, 4097);
    const hal_dptr b = machine.allocate(0, 4097);
    const hal_dptr far = machine.allocate(1, 4097);
    const std::vector<uint8_t> data = machine.random_bytes(4095);
    std::vector<uint8_t> back(4097);
    for (const hal_dptr ptr : {a, b, far}) {
        REQUIRE(memory_table.device_memory_set(machine.self(), ptr == far ? 1 : 0, ptr, 0xee, 4097) == HAL_OK);
    }
    REQUIRE(memory_table.memory_copy_h2d(machine.self(), 0, a + 1, data.data(), data.size()) == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2d(machine.self(), 0, b + 2, a + 1, data.size()) == HAL_OK);
    REQUIRE(memory_table.memory_copy_p2p(machine.self(), 1, far + 1, 0, b + 2, data.size()) == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 1, back.data(), far, 4097) == HAL_OK);
    REQUIRE(back.front() == 0xee);
    REQUIRE(back.back() == 0xee);
    REQUIRE(std::equal(data.begin(), data.end(), back.begin() + 1));
    REQUIRE(memory_table.memory_copy_d2d(machine.self(), 0, a + 10, a + 1, 4000) == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 0, back.data(), a + 10, 4000) == HAL_OK);
    REQUIRE(std::equal(back.begin(), back.begin() + 4000, data.begin()));
}

TEST_CASE("a copy outside an allocation is refused and says which range") {
    Machine machine;
    const hal_dptr ptr = machine.allocate(0, 1000);
    const hal_dptr other = machine.allocate(1, 1000);
    std::vector<char> host(2000);
    const auto h2d = [&](hal_dptr dst, uint64_t bytes) {
        return memory_table.memory_copy_h2d(machine.self(), 0, dst, host.data(), bytes);
    };
    REQUIRE(h2d(ptr, 1000) == HAL_OK);
    REQUIRE(h2d(ptr, 1001) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "dst: the range of 1001 bytes"));
    REQUIRE(contains(machine.text(), "an allocation of 1000 bytes"));
    REQUIRE(h2d(ptr + 999, 2) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(h2d(ptr - 1, 1) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(h2d(ptr, UINT64_MAX) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(h2d(0, 1) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(h2d(other, 1) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "of device 1"));
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 0, host.data(), ptr + 1, 1000) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "src: "));
    REQUIRE(memory_table.memory_copy_d2d(machine.self(), 0, ptr, other, 10) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.memory_copy_p2p(machine.self(), 0, ptr, 0, other, 10) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.memory_copy_p2p(machine.self(), 0, ptr, 1, other, 10) == HAL_OK);
    REQUIRE(memory_table.memory_copy_p2p(machine.self(), 2, ptr, 1, other, 10) == HAL_ERROR_INVALID_DEVICE);
    REQUIRE(memory_table.memory_copy_h2d(machine.self(), 0, ptr, nullptr, 1) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "src is NULL"));
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, ptr, 0, 1001) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.async_memory_copy_h2d(machine.self(), 0, nullptr, ptr, host.data(), 1001) ==
            HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 0, ptr, 0) == HAL_OK);
    REQUIRE(h2d(ptr, 1) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("no bytes: nothing to check, nothing to do") {
    Machine machine;
    REQUIRE(memory_table.memory_copy_h2d(machine.self(), 0, 0, nullptr, 0) == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 0, nullptr, 0, 0) == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2d(machine.self(), 0, 0, 0, 0) == HAL_OK);
    REQUIRE(memory_table.memory_copy_p2p(machine.self(), 0, 0, 1, 0, 0) == HAL_OK);
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, 0, 1, 0) == HAL_OK);
    REQUIRE(memory_table.async_memory_copy_h2d(machine.self(), 0, nullptr, 0, nullptr, 0) == HAL_OK);
    REQUIRE(memory_table.memory_copy_h2d(machine.self(), 5, 0, nullptr, 0) == HAL_ERROR_INVALID_DEVICE);
    auto* garbage = reinterpret_cast<hal_stream>(0x1234);
    REQUIRE(memory_table.async_memory_copy_h2d(machine.self(), 0, garbage, 0, nullptr, 0) == HAL_ERROR_INVALID_HANDLE);
    machine.synchronize(0);
}

TEST_CASE("asynchronous copies run in stream order, after the call") {
    Machine machine;
    const hal_dptr x = machine.allocate(0, 5000);
    const hal_dptr y = machine.allocate(0, 5000);
    const hal_dptr far = machine.allocate(1, 5000);
    const std::vector<uint8_t> first = machine.random_bytes(5000);
    const std::vector<uint8_t> second = machine.random_bytes(5000);
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, x, 0, 5000) == HAL_OK);
    std::vector<uint8_t> result(5000);
    {
        const test::Gate gate(machine, 0);
        REQUIRE(memory_table.async_memory_copy_h2d(machine.self(), 0, nullptr, x, first.data(), 5000) == HAL_OK);
        REQUIRE(memory_table.async_memory_copy_d2d(machine.self(), 0, nullptr, y, x, 5000) == HAL_OK);
        REQUIRE(memory_table.async_memory_copy_h2d(machine.self(), 0, nullptr, x, second.data(), 5000) == HAL_OK);
        REQUIRE(memory_table.async_memory_copy_p2p(machine.self(), 1, far, 0, y, nullptr, 5000) == HAL_OK);
        REQUIRE(memory_table.async_memory_copy_d2h(machine.self(), 0, nullptr, result.data(), y, 5000) == HAL_OK);
        REQUIRE(*reinterpret_cast<uint8_t*>(x) == 0);
        REQUIRE(result[4999] == 0);
    }
    machine.synchronize(0);
    REQUIRE(result == first);
    REQUIRE(std::memcmp(reinterpret_cast<void*>(x), second.data(), 5000) == 0);
    REQUIRE(std::memcmp(reinterpret_cast<void*>(far), first.data(), 5000) == 0);
}

TEST_CASE("a large copy arrives whole and in huge pages where the kernel has them") {
    Machine machine;
    constexpr uint64_t bytes = (uint64_t{20} << 20) + 123;
    const hal_dptr ptr = machine.allocate(0, bytes);
    const std::vector<uint8_t> data = machine.random_bytes(bytes);
    std::vector<uint8_t> back(bytes);
    REQUIRE(memory_table.memory_copy_h2d(machine.self(), 0, ptr, data.data(), bytes) == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 0, back.data(), ptr, bytes) == HAL_OK);
    REQUIRE(back == data);
}

TEST_CASE("set takes the low byte and ends where it should") {
    Machine machine;
    const hal_dptr ptr = machine.allocate(0, 300);
    const auto* bytes = reinterpret_cast<const uint8_t*>(ptr);
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, ptr, 0xabcdef00, 300) == HAL_OK);
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, ptr + 3, 0xffffff7f, 291) == HAL_OK);
    for (int i = 0; i < 300; ++i) {
        REQUIRE(bytes[i] == (i >= 3 && i < 294 ? 0x7f : 0));
    }
}

TEST_CASE("unified memory has one address") {
    Machine machine;
    hal_dptr ptr = 0;
    REQUIRE(memory_table.unified_memory_allocate(machine.self(), 0, 4096, &ptr) == HAL_OK);
    auto* host = reinterpret_cast<uint32_t*>(ptr);
    host[5] = 0x12345678;
    uint32_t read = 0;
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 0, &read, ptr + 20, 4) == HAL_OK);
    REQUIRE(read == 0x12345678);
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, ptr, 0x11, 4096) == HAL_OK);
    REQUIRE(host[5] == 0x11111111);
    REQUIRE(machine.stats(0).used_bytes == 4096);
    REQUIRE(memory_table.unified_memory_deallocate(machine.self(), 0, ptr, 4096) == HAL_OK);
    REQUIRE(machine.stats(0).used_bytes == 0);
}

TEST_CASE("statistics are of one device and add up") {
    Machine machine;
    const hal_dptr ptr = machine.allocate(1, 1000);
    const hal_memory_stats zero = machine.stats(0);
    const hal_memory_stats one = machine.stats(1);
    REQUIRE(zero.used_bytes == 0);
    REQUIRE(one.total_bytes == Machine::limit);
    REQUIRE(one.used_bytes == 1024);
    REQUIRE(one.free_bytes + one.used_bytes == one.total_bytes);
    REQUIRE(one.peak_bytes == 1024);
    REQUIRE(one.live_allocations == 1);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 1, ptr, 0) == HAL_OK);
    REQUIRE(machine.stats(1).peak_bytes == 1024);
    REQUIRE(memory_table.device_memory_stats(machine.self(), 0, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    hal_memory_stats without_size{};
    REQUIRE(memory_table.device_memory_stats(machine.self(), 0, &without_size) == HAL_ERROR_INVALID_ARGUMENT);
    hal_memory_stats shorter{};
    shorter.header.size = offsetof(hal_memory_stats, used_bytes);
    shorter.used_bytes = 99;
    REQUIRE(memory_table.device_memory_stats(machine.self(), 0, &shorter) == HAL_OK);
    REQUIRE(shorter.total_bytes == Machine::limit);
    REQUIRE(shorter.used_bytes == 99);
}

TEST_CASE("size hints agree with each other and with what is granted") {
    Machine machine;
    const auto hint = [&](auto entry) {
        uint64_t bytes = 0;
        REQUIRE(entry(machine.self(), 0, &bytes) == HAL_OK);
        REQUIRE(entry(machine.self(), 0, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(entry(machine.self(), 9, &bytes) == HAL_ERROR_INVALID_DEVICE);
        return bytes;
    };
    const uint64_t least = hint(memory_table.device_min_chunk_size);
    const uint64_t most = hint(memory_table.device_max_chunk_size);
    const uint64_t all = hint(memory_table.device_max_alloc_size);
    const uint64_t first = hint(memory_table.device_init_alloc_size);
    const uint64_t later = hint(memory_table.device_realloc_size);
    REQUIRE(hint(memory_table.device_extra_padding_size) < least);
    REQUIRE((least & (least - 1)) == 0);
    REQUIRE(least <= std::min(first, later));
    REQUIRE(std::max(first, later) <= most);
    REQUIRE(most <= all);
    REQUIRE(all <= machine.stats(0).total_bytes);
    const hal_dptr smallest = machine.allocate(0, 1);
    REQUIRE(machine.stats(0).used_bytes == least);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 0, smallest, 0) == HAL_OK);
    machine.allocate(0, all);
}

}  // namespace
}  // namespace hal::cpu

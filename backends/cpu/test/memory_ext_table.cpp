// The extension of table 2 through its slots.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "memory.hpp"
#include "memory_fixture.hpp"
#include "stream.hpp"

namespace hal::cpu {
namespace {

using test::contains;
using test::Machine;

hal_memory_attributes attributes_of(Machine& machine, uint64_t address) {
    hal_memory_attributes attributes{};
    attributes.header.size = sizeof attributes;
    REQUIRE(memory_ext_table.get_memory_attributes(machine.self(), address, &attributes) == HAL_OK);
    return attributes;
}

hal_status attributes_status(Machine& machine, uint64_t address) {
    hal_memory_attributes attributes{};
    attributes.header.size = sizeof attributes;
    return memory_ext_table.get_memory_attributes(machine.self(), address, &attributes);
}

TEST_CASE("memory in stream order: usable behind the call, used until the stream has freed it") {
    Machine machine;
    hal_dptr ptr = 5;
    REQUIRE(memory_ext_table.async_memory_allocate(machine.self(), 0, nullptr, 0, &ptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.async_memory_allocate(machine.self(), 0, nullptr, 100, nullptr) ==
            HAL_ERROR_INVALID_ARGUMENT);
    auto* garbage = reinterpret_cast<hal_stream>(0x1234);
    REQUIRE(memory_ext_table.async_memory_allocate(machine.self(), 0, garbage, 100, &ptr) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(ptr == 5);
    REQUIRE(machine.stats(0).live_allocations == 0);
    std::vector<uint8_t> result(1000);
    {
        const test::Gate gate(machine, 0);
        REQUIRE(memory_ext_table.async_memory_allocate(machine.self(), 0, nullptr, 1000, &ptr) == HAL_OK);
        REQUIRE(memory_ext_table.async_memory_set(machine.self(), 0, nullptr, ptr, 0x17f, 1000) == HAL_OK);
        REQUIRE(memory_table.async_memory_copy_d2h(machine.self(), 0, nullptr, result.data(), ptr, 1000) == HAL_OK);
        REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, garbage, ptr) == HAL_ERROR_INVALID_HANDLE);
        REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, nullptr, ptr) == HAL_OK);
        REQUIRE(machine.stats(0).used_bytes == 1024);
        REQUIRE(machine.stats(0).live_allocations == 1);
        REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, nullptr, ptr) == HAL_ERROR_INVALID_HANDLE);
        REQUIRE(contains(machine.text(), "being freed already"));
        REQUIRE(memory_table.device_memory_deallocate(machine.self(), 0, ptr, 0) == HAL_ERROR_INVALID_HANDLE);
        REQUIRE(memory_ext_table.async_memory_set(machine.self(), 0, nullptr, ptr, 0, 1) == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(attributes_status(machine, ptr) == HAL_ERROR_NOT_FOUND);
    }
    machine.synchronize(0);
    REQUIRE(result == std::vector<uint8_t>(1000, 0x7f));
    REQUIRE(machine.stats(0).used_bytes == 0);
    REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, nullptr, ptr) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, nullptr, 0) == HAL_OK);
}

TEST_CASE("both frees take both kinds of allocation") {
    Machine machine;
    hal_dptr ptr = 0;
    REQUIRE(memory_ext_table.async_memory_allocate(machine.self(), 0, nullptr, 100, &ptr) == HAL_OK);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 0, ptr, 100) == HAL_OK);
    ptr = machine.allocate(0, 100);
    REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, nullptr, ptr) == HAL_OK);
    machine.synchronize(0);
    REQUIRE(machine.stats(0).live_allocations == 0);
}

TEST_CASE("a failed stream still frees") {
    Machine machine;
    hal_stream stream = nullptr;
    REQUIRE(stream_table.create_stream(machine.self(), 0, nullptr, &stream) == HAL_OK);
    const hal_dptr ptr = machine.allocate(0, 100);
    enqueue(machine.instance(), 0, stream, []() noexcept { return HAL_ERROR_KERNEL_FAULT; });
    REQUIRE(stream_table.synchronize_stream(machine.self(), 0, stream, HAL_NO_TIMEOUT) == HAL_ERROR_KERNEL_FAULT);
    REQUIRE(memory_ext_table.async_memory_deallocate(machine.self(), 0, stream, ptr) == HAL_OK);
    REQUIRE(stream_table.destroy_stream(machine.self(), 0, stream) != HAL_ERROR_INVALID_HANDLE);
    REQUIRE(machine.stats(0).live_allocations == 0);
}

TEST_CASE("rows: copies and refusals") {
    Machine machine;
    const hal_dptr a = machine.allocate(0, 1000);
    const hal_dptr b = machine.allocate(0, 1000);
    const std::vector<uint8_t> data = machine.random_bytes(1000);
    std::vector<uint8_t> back(1000, 0xee);
    hal_copy_2d job{};
    job.header.size = sizeof job;
    const auto run = [&] { return memory_ext_table.memory_copy_2d(machine.self(), 0, &job); };
    const auto go = [&](uint32_t direction, uint64_t dst, uint64_t dst_pitch, uint64_t src, uint64_t src_pitch) {
        job.direction = direction;
        job.dst = dst;
        job.dst_pitch_bytes = dst_pitch;
        job.src = src;
        job.src_pitch_bytes = src_pitch;
        job.width_bytes = 30;
        job.height = 10;
    };
    const auto host = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };

    go(HAL_COPY_H2D, a, 100, host(data.data()), 40);
    REQUIRE(run() == HAL_OK);
    go(HAL_COPY_D2D, b, 30, a, 100);
    REQUIRE(memory_ext_table.async_memory_copy_2d(machine.self(), 0, nullptr, &job) == HAL_OK);
    machine.synchronize(0);
    go(HAL_COPY_D2H, host(back.data()), 50, b, 30);
    REQUIRE(run() == HAL_OK);
    for (size_t row = 0; row < 10; ++row) {
        REQUIRE(std::memcmp(&back[row * 50], &data[row * 40], 30) == 0);
        REQUIRE(back[row * 50 + 30] == 0xee);
    }

    SECTION("the last row needs no pitch behind it") {
        go(HAL_COPY_D2D, a + 70, 100, b, 30);
        REQUIRE(run() == HAL_OK);
        go(HAL_COPY_D2D, a + 71, 100, b, 30);
        REQUIRE(run() == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(contains(machine.text(), "copy.dst: the range of 930 bytes"));
    }
    SECTION("pitch below width") {
        go(HAL_COPY_D2D, a, 29, b, 30);
        REQUIRE(run() == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(contains(machine.text(), "dst_pitch_bytes is 29"));
    }
    SECTION("more than 64 bits") {
        go(HAL_COPY_D2D, a, UINT64_MAX / 4, b, 30);
        REQUIRE(run() == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(contains(machine.text(), "exceed 64 bits"));
    }
    SECTION("direction, header, NULL") {
        for (const uint32_t direction : {0u, 4u, UINT32_MAX}) {
            go(direction, a, 30, b, 30);
            REQUIRE(run() == HAL_ERROR_INVALID_ARGUMENT);
        }
        go(HAL_COPY_H2D, a, 30, 0, 30);
        REQUIRE(run() == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(contains(machine.text(), "copy.src is NULL"));
        go(HAL_COPY_D2D, a, 30, b, 30);
        job.header.size = sizeof job - 8;
        REQUIRE(run() == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(contains(machine.text(), "sizeof(hal_copy_2d)"));
        REQUIRE(memory_ext_table.memory_copy_2d(machine.self(), 0, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
        REQUIRE(memory_ext_table.async_memory_copy_2d(machine.self(), 0, nullptr, nullptr) ==
                HAL_ERROR_INVALID_ARGUMENT);
    }
    SECTION("no rows") {
        go(HAL_COPY_D2D, 0, 30, 0, 30);
        job.height = 0;
        REQUIRE(run() == HAL_OK);
        REQUIRE(memory_ext_table.async_memory_copy_2d(machine.self(), 0, nullptr, &job) == HAL_OK);
        REQUIRE(memory_ext_table.memory_copy_2d(machine.self(), 7, &job) == HAL_ERROR_INVALID_DEVICE);
    }
}

TEST_CASE("alignment is a power of two up to 2 MiB") {
    Machine machine;
    hal_dptr ptr = 3;
    for (const uint64_t alignment : {0, 3, 257, 4 << 20}) {
        REQUIRE(memory_ext_table.aligned_memory_allocate(machine.self(), 0, 100, alignment, &ptr) ==
                HAL_ERROR_INVALID_ARGUMENT);
    }
    REQUIRE(ptr == 3);
    REQUIRE(memory_ext_table.aligned_memory_allocate(machine.self(), 0, 0, 4096, &ptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.aligned_memory_allocate(machine.self(), 0, 100, 2 << 20, &ptr) == HAL_OK);
    REQUIRE(ptr % (2 << 20) == 0);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 0, ptr, 100) == HAL_OK);
}

TEST_CASE("attributes of every kind of memory") {
    Machine machine;
    const hal_dptr device = machine.allocate(1, 1000);
    hal_dptr unified = 0;
    void* host = nullptr;
    REQUIRE(memory_table.unified_memory_allocate(machine.self(), 0, 600, &unified) == HAL_OK);
    REQUIRE(memory_table.host_memory_allocate(machine.self(), 1, 700, &host) == HAL_OK);
    const auto host_address = reinterpret_cast<uint64_t>(host);

    hal_memory_attributes found = attributes_of(machine, device + 999);
    REQUIRE(found.memory_kind == HAL_MEMORY_DEVICE);
    REQUIRE(found.device == 1);
    REQUIRE(found.base == device);
    REQUIRE(found.size_bytes == 1000);
    REQUIRE((found.flags & HAL_MEMORY_SHAREABLE) != 0);
    found = attributes_of(machine, unified);
    REQUIRE(found.memory_kind == HAL_MEMORY_UNIFIED);
    REQUIRE(found.device == 0);
    found = attributes_of(machine, host_address + 699);
    REQUIRE(found.memory_kind == HAL_MEMORY_HOST);
    REQUIRE(found.base == host_address);
    REQUIRE(found.device == 1);

    REQUIRE(attributes_status(machine, device + 1000) == HAL_ERROR_NOT_FOUND);
    REQUIRE(contains(machine.text(), "behind the end of an allocation of 1000 bytes"));
    REQUIRE(attributes_status(machine, 0) == HAL_ERROR_NOT_FOUND);
    REQUIRE(attributes_status(machine, UINT64_MAX) == HAL_ERROR_NOT_FOUND);
    REQUIRE(attributes_status(machine, reinterpret_cast<uint64_t>(&found)) == HAL_ERROR_NOT_FOUND);
    REQUIRE(memory_ext_table.get_memory_attributes(machine.self(), device, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 1, device, 0) == HAL_OK);
    REQUIRE(attributes_status(machine, device) == HAL_ERROR_NOT_FOUND);
    REQUIRE(memory_table.host_memory_deallocate(machine.self(), 1, host, 0) == HAL_OK);
    REQUIRE(attributes_status(machine, host_address) == HAL_ERROR_NOT_FOUND);
}

TEST_CASE("registered memory is known to the instance until it is unregistered") {
    Machine machine;
    std::vector<char> mine(10'000);
    const auto add = [&](hal_dev device, void* ptr, uint64_t bytes) {
        return memory_ext_table.host_memory_register(machine.self(), device, ptr, bytes);
    };
    REQUIRE(add(0, nullptr, 10) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(add(0, mine.data(), 0) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(add(0, mine.data(), UINT64_MAX) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(add(0, reinterpret_cast<void*>(UINT64_MAX - 4096), 100) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(add(0, mine.data(), 5000) == HAL_OK);
    REQUIRE(add(0, mine.data(), 5000) == HAL_ERROR_ALREADY_EXISTS);
    REQUIRE(add(1, mine.data() + 4999, 10) == HAL_ERROR_ALREADY_EXISTS);
    REQUIRE(contains(machine.text(), "device 0"));
    REQUIRE(add(0, reinterpret_cast<void*>(machine.allocate(0, 4096)), 4096) == HAL_ERROR_ALREADY_EXISTS);
    REQUIRE(attributes_of(machine, reinterpret_cast<uint64_t>(mine.data()) + 10).memory_kind == HAL_MEMORY_HOST);
    REQUIRE(memory_table.host_memory_deallocate(machine.self(), 0, mine.data(), 0) == HAL_ERROR_INVALID_HANDLE);
    const auto remove = [&](hal_dev device, void* ptr) {
        return memory_ext_table.host_memory_unregister(machine.self(), device, ptr);
    };
    REQUIRE(remove(1, mine.data()) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(remove(0, mine.data() + 1) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(remove(0, mine.data()) == HAL_OK);
    REQUIRE(remove(0, mine.data()) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(remove(0, nullptr) == HAL_ERROR_INVALID_HANDLE);
}

TEST_CASE("peer access is a flag that opens the peer's memory to this device's entries") {
    Machine machine;
    int32_t access = 9;
    REQUIRE(memory_ext_table.peer_access_query(machine.self(), 0, 1, &access) == HAL_OK);
    REQUIRE(access == 1);
    REQUIRE(memory_ext_table.peer_access_query(machine.self(), 0, 0, &access) == HAL_OK);
    REQUIRE(access == 0);
    REQUIRE(memory_ext_table.peer_access_query(machine.self(), 0, 2, &access) == HAL_ERROR_INVALID_DEVICE);
    REQUIRE(memory_ext_table.peer_access_query(machine.self(), 0, 1, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.peer_access_enable(machine.self(), 0, 0) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.peer_access_enable(machine.self(), 0, -1) == HAL_ERROR_INVALID_DEVICE);
    REQUIRE(memory_ext_table.peer_access_disable(machine.self(), 0, 1) == HAL_ERROR_NOT_FOUND);

    const hal_dptr mine = machine.allocate(0, 100);
    const hal_dptr theirs = machine.allocate(1, 100);
    const auto copy = [&] { return memory_table.memory_copy_d2d(machine.self(), 0, mine, theirs, 100); };
    REQUIRE(copy() == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.peer_access_enable(machine.self(), 0, 1) == HAL_OK);
    REQUIRE(memory_ext_table.peer_access_enable(machine.self(), 0, 1) == HAL_ERROR_ALREADY_EXISTS);
    REQUIRE(copy() == HAL_OK);
    REQUIRE(memory_table.memory_copy_d2d(machine.self(), 1, mine, theirs, 100) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.peer_access_disable(machine.self(), 0, 1) == HAL_OK);
    REQUIRE(copy() == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("imported memory copies like device memory and is freed by close alone") {
    Machine machine;
    const hal_dptr ptr = machine.allocate(0, 5000);
    const std::vector<uint8_t> data = machine.random_bytes(5000);
    REQUIRE(memory_table.memory_copy_h2d(machine.self(), 0, ptr, data.data(), 5000) == HAL_OK);
    hal_ipc_handle handle{};
    REQUIRE(memory_ext_table.memory_ipc_export(machine.self(), 1, ptr, &handle) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "of device 0"));
    REQUIRE(memory_ext_table.memory_ipc_export(machine.self(), 0, ptr, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.memory_ipc_export(machine.self(), 0, ptr + 1000, &handle) == HAL_OK);
    hal_dptr import = 0;
    REQUIRE(memory_ext_table.memory_ipc_import(machine.self(), 1, nullptr, &import) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.memory_ipc_import(machine.self(), 1, &handle, nullptr) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.memory_ipc_import(machine.self(), 1, &handle, &import) == HAL_OK);

    const hal_memory_attributes found = attributes_of(machine, import);
    REQUIRE(found.memory_kind == HAL_MEMORY_IMPORTED);
    REQUIRE(found.device == 1);
    REQUIRE(found.base == import - 1000);
    REQUIRE(found.size_bytes == 5000);
    std::vector<uint8_t> back(4000);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 1, back.data(), import, 4000) == HAL_OK);
    REQUIRE(std::equal(back.begin(), back.end(), data.begin() + 1000));
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 1, back.data(), import, 4001) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 0, back.data(), import, 1) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(contains(machine.text(), "an import"));
    REQUIRE(memory_ext_table.async_memory_set(machine.self(), 1, nullptr, import, 0x44, 10) == HAL_OK);
    machine.synchronize(1);
    REQUIRE(reinterpret_cast<uint8_t*>(ptr)[1009] == 0x44);

    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 1, import, 0) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(memory_ext_table.memory_ipc_export(machine.self(), 1, import, &handle) == HAL_ERROR_INVALID_ARGUMENT);
    REQUIRE(memory_ext_table.memory_ipc_close(machine.self(), 0, import) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(live_allocations(*machine.instance().device(1).memory) == 1);
    REQUIRE(memory_ext_table.memory_ipc_close(machine.self(), 1, import) == HAL_OK);
    REQUIRE(memory_ext_table.memory_ipc_close(machine.self(), 1, import) == HAL_ERROR_INVALID_HANDLE);
    REQUIRE(memory_table.memory_copy_d2h(machine.self(), 1, back.data(), import, 1) == HAL_ERROR_INVALID_ARGUMENT);
}

TEST_CASE("trim and peak") {
    Machine machine;
    const hal_dptr ptr = machine.allocate(0, uint64_t{8} << 20);
    REQUIRE(memory_table.device_memory_set(machine.self(), 0, ptr, 1, uint64_t{8} << 20) == HAL_OK);
    REQUIRE(memory_table.device_memory_deallocate(machine.self(), 0, ptr, 0) == HAL_OK);
    REQUIRE(machine.stats(0).cached_bytes >= uint64_t{8} << 20);
    REQUIRE(machine.stats(0).peak_bytes == uint64_t{8} << 20);
    REQUIRE(memory_ext_table.memory_trim(machine.self(), 0, 0) == HAL_OK);
    REQUIRE(machine.stats(0).cached_bytes == 0);
    REQUIRE(memory_ext_table.memory_reset_peak(machine.self(), 0) == HAL_OK);
    REQUIRE(machine.stats(0).peak_bytes == 0);
    REQUIRE(memory_ext_table.memory_trim(machine.self(), 3, 0) == HAL_ERROR_INVALID_DEVICE);
    REQUIRE(memory_ext_table.memory_reset_peak(machine.self(), -1) == HAL_ERROR_INVALID_DEVICE);
}

}  // namespace
}  // namespace hal::cpu

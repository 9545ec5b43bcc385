// Device memory in two processes, and handles that are wrong.
#include <catch2/catch.hpp>
#include <cstring>

#include "hal/sdk.hpp"
#include "heap.hpp"
#include "ipc_memory.hpp"
#include "self_process.hpp"
#include "test_host.hpp"

namespace hal::cpu {
namespace {

using test::status_of;

constexpr uint64_t bytes = 3'000'000;  // neither page nor huge page
constexpr uint64_t inner = 12345;

uint8_t* at(uint64_t address) {
    return reinterpret_cast<uint8_t*>(address);
}

hal_ipc_handle export_from(const Heap& heap, uint64_t address) {
    const auto found = heap.find(address);
    REQUIRE(found);
    return make_ipc_handle(
        {heap.arena().file(), found->base - heap.arena().base(), found->bytes, address - found->base});
}

// The other process: exports, waits until the importer has answered, looks at what it wrote.
TEST_CASE("ipc exporter", "[.]") {
    Heap heap(uint64_t{64} << 20);
    const uint64_t spacer = heap.allocate(1000, granule_bytes, BlockKind::device);  // so that the offset is no page
    const uint64_t block = heap.allocate(bytes, granule_bytes, BlockKind::device);
    REQUIRE(spacer != 0);
    for (uint64_t i = 0; i < bytes; ++i) {
        at(block)[i] = static_cast<uint8_t>(i * 7 + 3);
    }
    const hal_ipc_handle handle = export_from(heap, block + inner);
    REQUIRE(test::write_all(test::child_writes, &handle, sizeof handle));
    char answer = 0;
    REQUIRE(test::read_all(test::child_reads, &answer, 1));
    REQUIRE(at(block)[bytes - 1] == 0xc3);
    REQUIRE_FALSE(test::read_all(test::child_reads, &answer, 1));
}

TEST_CASE("memory of another process is read, written and outlives it") {
    test::SelfProcess exporter("ipc exporter");
    hal_ipc_handle handle;
    REQUIRE(test::read_all(exporter.reads(), &handle, sizeof handle));
    Imports imports;
    const uint64_t pointer = imports.import(handle);
    const auto found = imports.find(pointer);
    REQUIRE(found);
    REQUIRE(found->base == pointer - inner);
    REQUIRE(found->bytes == bytes);
    bool same = true;
    for (uint64_t i = 0; i < bytes; ++i) {
        same = same && at(found->base)[i] == static_cast<uint8_t>(i * 7 + 3);
    }
    REQUIRE(same);
    REQUIRE_FALSE(imports.find(found->base + bytes));
    REQUIRE_FALSE(imports.find(found->base - 1));

    at(found->base)[bytes - 1] = 0xc3;
    REQUIRE(test::write_all(exporter.writes(), "x", 1));
    REQUIRE(exporter.finish() == 0);
    REQUIRE(at(found->base)[bytes - 1] == 0xc3);

    std::string text;
    REQUIRE(status_of([&] { static_cast<void>(imports.import(handle)); }, &text) == HAL_ERROR_NOT_FOUND);
    REQUIRE(text.find("has ended") != std::string::npos);

    REQUIRE_FALSE(imports.close(pointer + 1));
    REQUIRE(imports.close(pointer));
    REQUIRE_FALSE(imports.close(pointer));
    REQUIRE(imports.count() == 0);
}

TEST_CASE("one process may import its own memory, more than once") {
    Heap heap(uint64_t{4} << 20);
    const uint64_t block = heap.allocate(5000, granule_bytes, BlockKind::device);
    const hal_ipc_handle handle = export_from(heap, block);
    Imports imports;
    const uint64_t first = imports.import(handle);
    const uint64_t second = imports.import(handle);
    REQUIRE(first != second);
    at(block)[4999] = 0x77;
    REQUIRE(at(first)[4999] == 0x77);
    at(second)[0] = 0x66;
    REQUIRE(at(block)[0] == 0x66);
    REQUIRE(imports.close(first));
    REQUIRE(at(second)[4999] == 0x77);
    REQUIRE(imports.count() == 1);  // the rest goes with the object
}

TEST_CASE("any changed byte of a handle is refused or names other memory of the arena, and nothing crashes") {
    Heap heap(uint64_t{4} << 20);
    const hal_ipc_handle good = export_from(heap, heap.allocate(5000, granule_bytes, BlockKind::device));
    const hal_ipc_handle zero{};
    Imports imports;
    REQUIRE(status_of([&] { static_cast<void>(imports.import(zero)); }) == HAL_ERROR_INVALID_ARGUMENT);
    for (size_t i = 0; i < sizeof good.bytes; ++i) {
        for (const int flip : {0x01, 0x80, 0xff}) {
            hal_ipc_handle bad = good;
            bad.bytes[i] = static_cast<uint8_t>(bad.bytes[i] ^ flip);
            const hal_status status = status_of([&] { static_cast<void>(imports.import(bad)); });
            INFO("byte " << i << " status " << status);
            // The process may be changed to a thread of it (a sanitizer has one), which shows the same files.
            const bool process = i >= 8 && i < 12;
            const bool range = i >= 32 && i < 56;  // offset, size and inner offset are not secret
            REQUIRE((status < 0 || (status == HAL_OK && (process || range))));
            REQUIRE((!range || status == HAL_OK || status == HAL_ERROR_INVALID_ARGUMENT));
        }
    }
}

TEST_CASE("a file number that holds something else by now is not touched") {
    hal_ipc_handle handle;
    {
        Heap heap(uint64_t{4} << 20);
        handle = export_from(heap, heap.allocate(5000, granule_bytes, BlockKind::device));
    }
    int pipes[2];
    REQUIRE(pipe2(pipes, O_CLOEXEC) == 0);  // takes the number; opening a FIFO would block
    Imports imports;
    REQUIRE(status_of([&] { static_cast<void>(imports.import(handle)); }) == HAL_ERROR_NOT_FOUND);
    close(pipes[0]);
    close(pipes[1]);
}

}  // namespace
}  // namespace hal::cpu

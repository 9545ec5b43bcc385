// What a rank of these tests brings: an address, and an arena for others to map.
#pragma once

#include <sys/mman.h>

#include <catch2/catch.hpp>

#include "mapping.hpp"
#include "socket.hpp"

namespace hal::xccl {

inline Address loopback() {
    Address address;
    address.bytes[15] = 1;
    return address;
}

class TestArena {
  public:
    TestArena() : file_(make_memory_file("test", bytes)) {
        base_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
        REQUIRE(base_ != MAP_FAILED);
    }
    ~TestArena() { munmap(base_, bytes); }
    TestArena(const TestArena&) = delete;
    TestArena& operator=(const TestArena&) = delete;
    [[nodiscard]] Arena get() const { return {file_.get(), reinterpret_cast<uint64_t>(base_), bytes}; }

  private:
    static constexpr uint64_t bytes = 4096;
    File file_;
    void* base_ = nullptr;
};

}  // namespace hal::xccl

// The memory of one virtual device, and the checks on addresses that every entry and kernel shares.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"
#include "heap.hpp"
#include "host_memory.hpp"
#include "instance.hpp"
#include "ipc_memory.hpp"

namespace hal::cpu {

class Memory {
  public:
    // Throws sdk::Error OUT_OF_RESOURCES.
    Memory(Instance& instance, hal_dev device, uint64_t limit_bytes);

    // Does the range lie in one live allocation or import that this device may use? Own memory first: no lock there.
    [[nodiscard]] bool reaches(Instance& instance, hal_dptr address, uint64_t bytes) const;

    // Peer access, a flag per device of the instance. False if it is so already.
    [[nodiscard]] bool set_peer(hal_dev peer, bool enabled) noexcept {
        return peers_[static_cast<size_t>(peer)].exchange(enabled, std::memory_order_relaxed) != enabled;
    }

    const hal_dev device;
    Heap heap;
    HostMemory host;
    Imports imports;

  private:
    std::vector<std::atomic<bool>> peers_;
};

// Throws INVALID_DEVICE.
inline Memory& memory_of(Instance& instance, hal_dev device) {
    return *instance.device(device).memory;
}

// What lies at an address, in words: "an allocation of 512 bytes at 0x... of device 1".
[[nodiscard]] std::string describe_address(Instance& instance, uint64_t address);

[[noreturn]] void throw_bad_range(Instance& instance, hal_dev device, hal_dptr address, uint64_t bytes,
                                  const char* what);

// Throws INVALID_ARGUMENT, with the range, `what` it is and what lies there, unless [address, address + bytes) lies in
// one live allocation or import that the device may use; INVALID_DEVICE. No bytes are always right. Returns the
// device's memory.
inline Memory& check_range(Instance& instance, hal_dev device, hal_dptr address, uint64_t bytes, const char* what) {
    Memory& memory = memory_of(instance, device);
    if (bytes != 0 && !memory.heap.contains(address, bytes) && !memory.reaches(instance, address, bytes)) [[unlikely]] {
        throw_bad_range(instance, device, address, bytes, what);
    }
    return memory;
}

// ---- Shared by the entries of memory.cpp and memory_ext.cpp ----

[[nodiscard]] inline void* as_pointer(hal_dptr address) noexcept {
    return reinterpret_cast<void*>(address);
}

// Throws INVALID_ARGUMENT for no bytes, OUT_OF_DEVICE_MEMORY with what is free.
[[nodiscard]] hal_dptr allocate_or_throw(Memory& memory, uint64_t bytes, uint64_t alignment, BlockKind kind);
[[noreturn]] void throw_not_freed(Instance& instance, const Memory& memory, hal_dptr ptr, uint64_t bytes,
                                  Heap::Freed reason);
[[noreturn]] void throw_wrong_size(uint64_t address, uint64_t real, uint64_t said);

// Sets every byte of a checked range to the low byte of value.
void fill_device(Memory& memory, hal_dptr ptr, uint32_t value, uint64_t bytes) noexcept;

}  // namespace hal::cpu

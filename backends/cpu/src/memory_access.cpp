// Who may use which address, and what to say to the others.
#include "address_text.hpp"
#include "memory.hpp"

namespace hal::cpu {

using shared::address_text;
using shared::range_text;
namespace {

std::string allocation_text(const char* kind, uint64_t base, uint64_t bytes, hal_dev device) {
    return std::string(kind) + " of " + std::to_string(bytes) + " bytes at " + address_text(base) + " of device " +
           std::to_string(device);
}

std::string describe_block(const Heap::Found& found, uint64_t address, hal_dev device) {
    switch (found.state) {
        case BlockState::live:
            if (address - found.base < found.bytes) {
                return allocation_text(found.kind == BlockKind::unified ? "a unified allocation" : "an allocation",
                                       found.base, found.bytes, device);
            }
            return "behind the end of " + allocation_text("an allocation", found.base, found.bytes, device);
        case BlockState::pending:
            return allocation_text("an allocation that a stream frees,", found.base, found.bytes, device);
        default:
            return "freed memory of device " + std::to_string(device);
    }
}

}  // namespace

Memory::Memory(Instance& instance, hal_dev ordinal, uint64_t limit_bytes)
    : device(ordinal), heap(limit_bytes), host(instance.host()), peers_(static_cast<size_t>(instance.device_count())) {}

bool Memory::reaches(Instance& instance, hal_dptr address, uint64_t bytes) const {
    if (heap.contains(address, bytes)) {
        return true;
    }
    if (const auto found = imports.find(address)) {
        return bytes <= found->bytes - (address - found->base);
    }
    for (size_t peer = 0; peer < peers_.size(); ++peer) {
        if (peers_[peer].load(std::memory_order_relaxed) &&
            memory_of(instance, static_cast<hal_dev>(peer)).heap.contains(address, bytes)) {
            return true;
        }
    }
    return false;
}

std::string describe_address(Instance& instance, uint64_t address) {
    for (hal_dev device = 0; device < instance.device_count(); ++device) {
        const Memory& memory = memory_of(instance, device);
        if (const auto found = memory.heap.find(address)) {
            return describe_block(*found, address, device);
        }
        if (const auto found = memory.imports.find(address)) {
            return allocation_text("an import", found->base, found->bytes, device);
        }
        if (const auto found = memory.host.find(address)) {
            return allocation_text(found->registered ? "registered host memory" : "host memory", found->base,
                                   found->bytes, device);
        }
    }
    return "no memory of this backend";
}

void throw_bad_range(Instance& instance, hal_dev device, hal_dptr address, uint64_t bytes, const char* what) {
    throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(what) + ": " + range_text(address, bytes) +
                                                     " is not inside one live allocation that device " +
                                                     std::to_string(device) + " may use; at its begin lies " +
                                                     describe_address(instance, address));
}

// ---- What device.hpp asks for ----

void MemoryDelete::operator()(Memory* memory) const noexcept {
    delete memory;
}

MemoryPtr make_memory(Instance& instance, hal_dev device, uint64_t limit_bytes) {
    return MemoryPtr(new Memory(instance, device, limit_bytes));
}

uint64_t live_allocations(const Memory& memory) noexcept {
    return memory.heap.stats().live + memory.host.allocations() + memory.host.registrations() + memory.imports.count();
}

}  // namespace hal::cpu

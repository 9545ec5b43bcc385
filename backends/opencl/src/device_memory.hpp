// The memory of one device, in one of two modes. Shared virtual memory: an address is the driver's own. Buffers: an
// address is reserved here and stands for a cl_mem and an offset. Everything above sees addresses and places only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "addresses.hpp"
#include "api.hpp"
#include "options.hpp"

namespace hal::opencl {

class Device;
class Instance;

enum class BlockKind : uint8_t { device, unified, host };

// Type-stable: a block that is looked up while another thread frees it is a block of before, never foreign memory.
struct Block {
    uint64_t base = 0;
    uint64_t bytes = 0;  // as asked for
    BlockKind kind = BlockKind::device;
    bool pending = false;     // freed on a stream that has not reached that point
    cl_mem buffer = nullptr;  // buffers, and the memory behind page-locked host memory
    void* pointer = nullptr;  // what clSVMAlloc or mmap gave
};

// Where bytes of a checked range lie, for the driver.
struct Place {
    cl_mem buffer = nullptr;  // with `offset`; or nullptr, and
    uint64_t offset = 0;
    void* pointer = nullptr;  // shared virtual memory or memory of the host

    [[nodiscard]] static Place host(const void* pointer) noexcept { return {nullptr, 0, const_cast<void*>(pointer)}; }
    [[nodiscard]] Place at(uint64_t bytes) const noexcept {
        return {buffer, buffer == nullptr ? 0 : offset + bytes,
                buffer == nullptr ? static_cast<char*>(pointer) + bytes : nullptr};
    }
};

class Memory {
  public:
    // Throws sdk::Error UNSUPPORTED if the mode is forced and the device lacks it.
    Memory(Device& device, const Options& options);
    // Releases what the user has not.
    ~Memory();
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    // Throws INVALID_ARGUMENT, UNSUPPORTED for unified memory, OUT_OF_DEVICE_MEMORY with what is free.
    [[nodiscard]] uint64_t allocate(uint64_t bytes, uint64_t alignment, BlockKind kind);
    // Throws INVALID_HANDLE or INVALID_ARGUMENT and frees nothing then.
    void release(uint64_t address, uint64_t bytes, BlockKind kind);
    // Released once the event has ended: then whoever allocates, asks for statistics or has waited does it.
    void release_after(uint64_t address, const Event& event);
    void sweep();

    // The place of a range that lies in one live allocation which this device may use; nullopt for others.
    [[nodiscard]] std::optional<Place> place(uint64_t address, uint64_t bytes);
    // A copy of the block around an address, live or pending.
    [[nodiscard]] std::optional<Block> find(uint64_t address) const;

    [[nodiscard]] bool set_peer(int32_t peer, bool enabled);

    struct Stats {
        uint64_t used_bytes;
        uint64_t peak_bytes;
        uint64_t live_of_device;
        uint64_t live;  // with host memory and what streams will free
    };
    [[nodiscard]] Stats stats();
    void reset_peak();
    [[nodiscard]] uint64_t live() { return stats().live; }

    [[nodiscard]] uint64_t limit_bytes() const noexcept { return limit_bytes_; }
    [[nodiscard]] uint64_t granule_bytes() const noexcept { return granule_bytes_; }
    [[nodiscard]] bool svm() const noexcept { return svm_; }
    // Does the host reach device memory through its address?
    [[nodiscard]] bool host_accessible() const noexcept;

  private:
    using Blocks = std::map<uint64_t, Block*>;

    [[nodiscard]] uint64_t rounded(uint64_t bytes) const noexcept;
    [[nodiscard]] Block make(uint64_t bytes, uint64_t alignment, BlockKind kind);
    [[nodiscard]] Block make_buffer(uint64_t bytes, uint64_t alignment);
    [[nodiscard]] Block make_svm(uint64_t bytes, uint64_t alignment, bool fine_grained);
    [[nodiscard]] Block make_host(uint64_t bytes);
    void unmake(const Block& block) noexcept;
    [[nodiscard]] Block* around(uint64_t address) const noexcept;
    [[nodiscard]] Blocks::iterator require_block(uint64_t address, uint64_t bytes, bool unified, bool host);
    void remove(Blocks::iterator at) noexcept;
    void sweep_locked();
    [[noreturn]] void throw_full(uint64_t bytes) const;
    [[nodiscard]] bool in(const Block& block, uint64_t address, uint64_t bytes, Place& out) const noexcept;

    Device& device_;
    const bool svm_;
    const uint64_t limit_bytes_;
    const uint64_t granule_bytes_;
    std::unique_ptr<Addresses> addresses_;  // of buffers; nullptr in the other mode

    mutable std::shared_mutex mutex_;
    Blocks blocks_;  // by base
    std::deque<Block> storage_;
    std::vector<Block*> unused_;
    struct Later {
        Event event;
        uint64_t address;
    };
    std::vector<Later> later_;
    uint64_t used_bytes_ = 0;
    uint64_t peak_bytes_ = 0;
    uint64_t live_of_device_ = 0;
    std::vector<bool> peers_;
};

// ---- Shared by the entries and kernels ----

// Throws INVALID_ARGUMENT with the range, `what` it is and what lies there, unless it lies in one live allocation that
// the device may use. No bytes are always right.
[[nodiscard]] Place check_range(Device& device, uint64_t address, uint64_t bytes, const char* what);
// What lies at an address, in words.
[[nodiscard]] std::string describe_address(Instance& instance, uint64_t address);

}  // namespace hal::opencl

// GB/T 45079-2024 table 2: device memory and copies.
#include "memory.hpp"

#include <algorithm>
#include <cstring>

#include "address_text.hpp"
#include "copy.hpp"
#include "stream.hpp"
#include "tables.hpp"

namespace hal::cpu {

using shared::address_text;
namespace {

// ---- Allocation ----

void require_size(uint64_t bytes) {
    if (bytes == 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "size_bytes is 0; an allocation has at least 1 byte");
    }
}

template <BlockKind kind>
hal_status allocate(Instance& instance, hal_dev device, uint64_t bytes, hal_dptr* out_ptr) {
    Memory& memory = memory_of(instance, device);
    sdk::require(out_ptr, "out_ptr");
    *out_ptr = allocate_or_throw(memory, bytes, granule_bytes, kind);
    return HAL_OK;
}

template <BlockKind kind>
hal_status deallocate(Instance& instance, hal_dev device, hal_dptr ptr, uint64_t bytes) {
    Memory& memory = memory_of(instance, device);
    if (ptr != 0) {
        if (const Heap::Freed freed = memory.heap.release(ptr, bytes, kind); freed != Heap::Freed::ok) [[unlikely]] {
            throw_not_freed(instance, memory, ptr, bytes, freed);
        }
    }
    return HAL_OK;
}

hal_status host_memory_allocate(Instance& instance, hal_dev device, uint64_t bytes, void** out_ptr) {
    Memory& memory = memory_of(instance, device);
    sdk::require(out_ptr, "out_ptr");
    require_size(bytes);
    *out_ptr = memory.host.allocate(bytes);
    return HAL_OK;
}

hal_status host_memory_deallocate(Instance& instance, hal_dev device, void* ptr, uint64_t bytes) {
    Memory& memory = memory_of(instance, device);
    if (ptr == nullptr) {
        return HAL_OK;
    }
    const auto address = reinterpret_cast<uint64_t>(ptr);
    const auto found = memory.host.find(address);
    if (found && found->base == address && !found->registered) {
        if (bytes != 0 && bytes != found->bytes) {
            throw_wrong_size(address, found->bytes, bytes);
        }
        if (memory.host.deallocate(address)) {
            return HAL_OK;
        }
    }
    throw sdk::Error(HAL_ERROR_INVALID_HANDLE,
                     address_text(address) + " was not made by host_memory_allocate on device " +
                         std::to_string(device) + "; it is " + describe_address(instance, address));
}

// ---- Copies ----

// Big destinations become huge pages before the first write.
void copy_to_device(Memory& memory, hal_dptr dst, const void* src, uint64_t bytes) noexcept {
    if (bytes >= window_bytes && memory.heap.contains(dst, bytes)) {
        memory.heap.make_huge(dst, bytes);
    }
    copy_bytes(as_pointer(dst), src, bytes);
}

void require_host(const void* ptr, const char* name, uint64_t bytes) {
    if (ptr == nullptr && bytes != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(name) + " is NULL");
    }
}

hal_status memory_copy_h2d(Instance& instance, hal_dev device, hal_dptr dst, const void* src, uint64_t bytes) {
    Memory& memory = check_range(instance, device, dst, bytes, "dst");
    require_host(src, "src", bytes);
    copy_to_device(memory, dst, src, bytes);
    return HAL_OK;
}

hal_status memory_copy_d2h(Instance& instance, hal_dev device, void* dst, hal_dptr src, uint64_t bytes) {
    check_range(instance, device, src, bytes, "src");
    require_host(dst, "dst", bytes);
    copy_bytes(dst, as_pointer(src), bytes);
    return HAL_OK;
}

hal_status memory_copy_p2p(Instance& instance, hal_dev dst_device, hal_dptr dst, hal_dev src_device, hal_dptr src,
                           uint64_t bytes) {
    Memory& memory = check_range(instance, dst_device, dst, bytes, "dst");
    check_range(instance, src_device, src, bytes, "src");
    copy_to_device(memory, dst, as_pointer(src), bytes);
    return HAL_OK;
}

hal_status memory_copy_d2d(Instance& instance, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t bytes) {
    return memory_copy_p2p(instance, device, dst, device, src, bytes);
}

// Ranges are checked at the call. No bytes are enqueued too: the stream is checked, and stays in order.
hal_status async_memory_copy_h2d(Instance& instance, hal_dev device, hal_stream stream, hal_dptr dst, const void* src,
                                 uint64_t bytes) {
    Memory& memory = check_range(instance, device, dst, bytes, "dst");
    require_host(src, "src", bytes);
    enqueue(instance, device, stream, [&memory, dst, src, bytes]() noexcept {
        copy_to_device(memory, dst, src, bytes);
        return HAL_OK;
    });
    return HAL_OK;
}

hal_status async_memory_copy_d2h(Instance& instance, hal_dev device, hal_stream stream, void* dst, hal_dptr src,
                                 uint64_t bytes) {
    check_range(instance, device, src, bytes, "src");
    require_host(dst, "dst", bytes);
    enqueue(instance, device, stream, [dst, src, bytes]() noexcept {
        copy_bytes(dst, as_pointer(src), bytes);
        return HAL_OK;
    });
    return HAL_OK;
}

hal_status async_memory_copy_p2p(Instance& instance, hal_dev dst_device, hal_dptr dst, hal_dev src_device, hal_dptr src,
                                 hal_stream stream, uint64_t bytes) {
    Memory& memory = check_range(instance, dst_device, dst, bytes, "dst");
    check_range(instance, src_device, src, bytes, "src");
    enqueue(instance, src_device, stream, [&memory, dst, src, bytes]() noexcept {
        copy_to_device(memory, dst, as_pointer(src), bytes);
        return HAL_OK;
    });
    return HAL_OK;
}

hal_status async_memory_copy_d2d(Instance& instance, hal_dev device, hal_stream stream, hal_dptr dst, hal_dptr src,
                                 uint64_t bytes) {
    return async_memory_copy_p2p(instance, device, dst, device, src, stream, bytes);
}

hal_status device_memory_set(Instance& instance, hal_dev device, hal_dptr ptr, uint32_t value, uint64_t bytes) {
    fill_device(check_range(instance, device, ptr, bytes, "ptr"), ptr, value, bytes);
    return HAL_OK;
}

// ---- Statistics and hints ----

hal_status device_memory_stats(Instance& instance, hal_dev device, hal_memory_stats* out_stats) {
    const Heap::Stats stats = memory_of(instance, device).heap.stats();
    hal_memory_stats answer{};
    answer.total_bytes = stats.limit_bytes;
    answer.free_bytes = stats.limit_bytes - stats.used_bytes;
    answer.used_bytes = stats.used_bytes;
    answer.peak_bytes = stats.peak_bytes;
    answer.cached_bytes = stats.cached_bytes;
    answer.live_allocations = stats.live;
    return sdk::write_struct(answer, out_stats, "out_stats");
}

// A pool on top does well with blocks of some huge pages, and gains nothing from asking for more than a good part of
// the device.
constexpr uint64_t pool_step_bytes = uint64_t{64} << 20;
constexpr uint64_t largest_chunk_bytes = uint64_t{1} << 30;

using Hint = uint64_t (*)(uint64_t limit_bytes);

template <Hint hint>
hal_status size_hint(Instance& instance, hal_dev device, uint64_t* out_size_bytes) {
    const Memory& memory = memory_of(instance, device);
    sdk::require(out_size_bytes, "out_size_bytes") = hint(memory.heap.limit_bytes());
    return HAL_OK;
}

constexpr Hint min_chunk = [](uint64_t) { return granule_bytes; };
constexpr Hint max_chunk = [](uint64_t limit) { return std::min(limit, largest_chunk_bytes); };
constexpr Hint max_alloc = [](uint64_t limit) { return limit; };
constexpr Hint no_padding = [](uint64_t) { return uint64_t{0}; };  // sizes are only rounded up to the smallest chunk
constexpr Hint pool_step = [](uint64_t limit) { return std::min(limit, pool_step_bytes); };

}  // namespace

hal_dptr allocate_or_throw(Memory& memory, uint64_t bytes, uint64_t alignment, BlockKind kind) {
    require_size(bytes);
    const hal_dptr ptr = memory.heap.allocate(bytes, alignment, kind);
    if (ptr == 0) [[unlikely]] {
        const Heap::Stats stats = memory.heap.stats();
        throw sdk::Error(HAL_ERROR_OUT_OF_DEVICE_MEMORY,
                         "device " + std::to_string(memory.device) + ": " + std::to_string(bytes) +
                             " bytes were asked for; " + std::to_string(stats.limit_bytes - stats.used_bytes) + " of " +
                             std::to_string(stats.limit_bytes) + " are free, " +
                             std::to_string(memory.heap.largest_free_bytes()) + " of them in one piece");
    }
    return ptr;
}

void throw_wrong_size(uint64_t address, uint64_t real, uint64_t said) {
    throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "the allocation at " + address_text(address) + " has " +
                                                     std::to_string(real) + " bytes, size_bytes says " +
                                                     std::to_string(said) +
                                                     "; pass the size that was asked for, or 0. Nothing was freed");
}

void throw_not_freed(Instance& instance, const Memory& memory, hal_dptr ptr, uint64_t bytes, Heap::Freed reason) {
    const std::string address = address_text(ptr);
    switch (reason) {
        case Heap::Freed::wrong_size: {
            const auto found = memory.heap.find(ptr);
            throw_wrong_size(ptr, found ? found->bytes : 0, bytes);
        }
        case Heap::Freed::interior:
            throw sdk::Error(HAL_ERROR_INVALID_HANDLE, address + " is not where an allocation begins; it lies in " +
                                                           describe_address(instance, ptr));
        case Heap::Freed::pending:
            throw sdk::Error(HAL_ERROR_INVALID_HANDLE, address + " is being freed already, by async_memory_deallocate");
        case Heap::Freed::wrong_kind:
            throw sdk::Error(HAL_ERROR_INVALID_HANDLE,
                             address + " is " + describe_address(instance, ptr) +
                                 "; free unified memory with unified_memory_deallocate, other memory with "
                                 "device_memory_deallocate");
        case Heap::Freed::ok:
        case Heap::Freed::not_live:
            break;
    }
    throw sdk::Error(HAL_ERROR_INVALID_HANDLE, address + " is no live allocation of device " +
                                                   std::to_string(memory.device) + "; it is " +
                                                   describe_address(instance, ptr));
}

void fill_device(Memory& memory, hal_dptr ptr, uint32_t value, uint64_t bytes) noexcept {
    if (bytes >= window_bytes && memory.heap.contains(ptr, bytes)) {
        memory.heap.make_huge(ptr, bytes);
    }
    if (bytes != 0) {
        std::memset(as_pointer(ptr), static_cast<int>(value & 0xff), bytes);
    }
}

const hal_memory_table memory_table = {
    .header = sdk::header<hal_memory_table>(HAL_TABLE_memory),
    .device_memory_allocate = sdk::slot<allocate<BlockKind::device>>,
    .device_memory_deallocate = sdk::slot<deallocate<BlockKind::device>>,
    .host_memory_allocate = sdk::slot<host_memory_allocate>,
    .host_memory_deallocate = sdk::slot<host_memory_deallocate>,
    .unified_memory_allocate = sdk::slot<allocate<BlockKind::unified>>,
    .unified_memory_deallocate = sdk::slot<deallocate<BlockKind::unified>>,
    .memory_copy_h2d = sdk::slot<memory_copy_h2d>,
    .memory_copy_d2h = sdk::slot<memory_copy_d2h>,
    .memory_copy_d2d = sdk::slot<memory_copy_d2d>,
    .memory_copy_p2p = sdk::slot<memory_copy_p2p>,
    .async_memory_copy_h2d = sdk::slot<async_memory_copy_h2d>,
    .async_memory_copy_d2h = sdk::slot<async_memory_copy_d2h>,
    .async_memory_copy_d2d = sdk::slot<async_memory_copy_d2d>,
    .async_memory_copy_p2p = sdk::slot<async_memory_copy_p2p>,
    .device_memory_set = sdk::slot<device_memory_set>,
    .device_memory_stats = sdk::slot<device_memory_stats>,
    .device_min_chunk_size = sdk::slot<size_hint<min_chunk>>,
    .device_max_chunk_size = sdk::slot<size_hint<max_chunk>>,
    .device_max_alloc_size = sdk::slot<size_hint<max_alloc>>,
    .device_extra_padding_size = sdk::slot<size_hint<no_padding>>,
    .device_init_alloc_size = sdk::slot<size_hint<pool_step>>,
    .device_realloc_size = sdk::slot<size_hint<pool_step>>,
};

}  // namespace hal::cpu

// GB/T 45079-2024 table 2: device memory and copies.
#include <algorithm>
#include <cstring>

#include "copy.hpp"
#include "device.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {
namespace {

// ---- Allocation ----

template <BlockKind kind, class Pointer>
hal_status allocate(Instance& instance, hal_dev device, uint64_t bytes, Pointer* out_ptr) {
    Memory& memory = instance.device(device).memory;
    sdk::require(out_ptr, "out_ptr");
    const uint64_t address = memory.allocate(bytes, memory.granule_bytes(), kind);
    if constexpr (std::is_pointer_v<Pointer>) {
        *out_ptr = reinterpret_cast<Pointer>(address);
    } else {
        *out_ptr = address;
    }
    return HAL_OK;
}

template <BlockKind kind>
hal_status deallocate(Instance& instance, hal_dev device, hal_dptr ptr, uint64_t bytes) {
    Memory& memory = instance.device(device).memory;
    if (ptr != 0) {
        memory.release(ptr, bytes, kind);
    }
    return HAL_OK;
}

hal_status host_memory_deallocate(Instance& instance, hal_dev device, void* ptr, uint64_t bytes) {
    return deallocate<BlockKind::host>(instance, device, reinterpret_cast<hal_dptr>(ptr), bytes);
}

// ---- Synchronous copies: by a queue that no stream shares ----

Place require_host(const void* ptr, const char* name, uint64_t bytes) {
    if (ptr == nullptr && bytes != 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(name) + " is NULL");
    }
    return Place::host(ptr);
}

void copy_now(Device& device, const Place& dst, const Place& src, uint64_t bytes) {
    if (bytes != 0) {
        check(copy(device, device.transfer_queue(), dst, src, bytes, true, nullptr), "copy");
    }
}

hal_status memory_copy_h2d(Instance& instance, hal_dev device, hal_dptr dst, const void* src, uint64_t bytes) {
    Device& owner = instance.device(device);
    const Place to = check_range(owner, dst, bytes, "dst");
    copy_now(owner, to, require_host(src, "src", bytes), bytes);
    return HAL_OK;
}

hal_status memory_copy_d2h(Instance& instance, hal_dev device, void* dst, hal_dptr src, uint64_t bytes) {
    Device& owner = instance.device(device);
    const Place from = check_range(owner, src, bytes, "src");
    copy_now(owner, require_host(dst, "dst", bytes), from, bytes);
    return HAL_OK;
}

// Between contexts the source's default path is the host.
void copy_between(Device& dst_device, const Place& dst, Device& src_device, const Place& src, uint64_t bytes) {
    constexpr uint64_t most_piece_bytes = uint64_t{16} << 20U;
    const auto staging = std::make_unique_for_overwrite<uint8_t[]>(std::min(bytes, most_piece_bytes));
    for (uint64_t at = 0; at < bytes; at += most_piece_bytes) {
        const uint64_t count = std::min(most_piece_bytes, bytes - at);
        copy_now(src_device, Place::host(staging.get()), src.at(at), count);
        copy_now(dst_device, dst.at(at), Place::host(staging.get()), count);
    }
}

hal_status memory_copy_p2p(Instance& instance, hal_dev dst_device, hal_dptr dst, hal_dev src_device, hal_dptr src,
                           uint64_t bytes) {
    Device& to = instance.device(dst_device);
    Device& from = instance.device(src_device);
    const Place dst_place = check_range(to, dst, bytes, "dst");
    const Place src_place = check_range(from, src, bytes, "src");
    if (to.same_context(from)) {
        copy_now(from, dst_place, src_place, bytes);
    } else {
        copy_between(to, dst_place, from, src_place, bytes);
    }
    return HAL_OK;
}

hal_status memory_copy_d2d(Instance& instance, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t bytes) {
    return memory_copy_p2p(instance, device, dst, device, src, bytes);
}

// ---- Copies on a stream; ranges are checked at the call ----

void enqueue_copy(Instance& instance, Device& device, hal_stream stream, const Place& dst, const Place& src,
                  uint64_t bytes) {
    Stream& order = find_stream(instance, device.ordinal(), stream);
    if (bytes == 0) {
        order.require(stream);
        return;
    }
    order.enqueue(stream, "copy", [&](cl_command_queue queue, cl_event* out) {
        return copy(device, queue, dst, src, bytes, false, out);
    });
}

hal_status async_memory_copy_h2d(Instance& instance, hal_dev device, hal_stream stream, hal_dptr dst, const void* src,
                                 uint64_t bytes) {
    Device& owner = instance.device(device);
    const Place to = check_range(owner, dst, bytes, "dst");
    enqueue_copy(instance, owner, stream, to, require_host(src, "src", bytes), bytes);
    return HAL_OK;
}

hal_status async_memory_copy_d2h(Instance& instance, hal_dev device, hal_stream stream, void* dst, hal_dptr src,
                                 uint64_t bytes) {
    Device& owner = instance.device(device);
    const Place from = check_range(owner, src, bytes, "src");
    enqueue_copy(instance, owner, stream, require_host(dst, "dst", bytes), from, bytes);
    return HAL_OK;
}

hal_status async_memory_copy_p2p(Instance& instance, hal_dev dst_device, hal_dptr dst, hal_dev src_device, hal_dptr src,
                                 hal_stream stream, uint64_t bytes) {
    Device& to = instance.device(dst_device);
    Device& from = instance.device(src_device);
    const Place dst_place = check_range(to, dst, bytes, "dst");
    const Place src_place = check_range(from, src, bytes, "src");
    if (bytes == 0 || to.same_context(from)) {
        enqueue_copy(instance, from, stream, dst_place, src_place, bytes);
    } else {
        copy_staged(to, dst_place, from, src_place, find_stream(instance, src_device, stream), stream, bytes);
    }
    return HAL_OK;
}

hal_status async_memory_copy_d2d(Instance& instance, hal_dev device, hal_stream stream, hal_dptr dst, hal_dptr src,
                                 uint64_t bytes) {
    return async_memory_copy_p2p(instance, device, dst, device, src, stream, bytes);
}

hal_status device_memory_set(Instance& instance, hal_dev device, hal_dptr ptr, uint32_t value, uint64_t bytes) {
    Device& owner = instance.device(device);
    const Place place = check_range(owner, ptr, bytes, "ptr");
    if (bytes != 0) {
        check(fill(owner, owner.transfer_queue(), place, value, bytes, nullptr), "fill");
        check(owner.api().clFinish(owner.transfer_queue()), "clFinish");
    }
    return HAL_OK;
}

// ---- Statistics and hints ----

hal_status device_memory_stats(Instance& instance, hal_dev device, hal_memory_stats* out_stats) {
    Memory& memory = instance.device(device).memory;
    const Memory::Stats stats = memory.stats();
    hal_memory_stats answer{};
    answer.total_bytes = memory.limit_bytes();
    answer.free_bytes = memory.limit_bytes() - stats.used_bytes;
    answer.used_bytes = stats.used_bytes;
    answer.peak_bytes = stats.peak_bytes;
    answer.live_allocations = stats.live_of_device;
    return sdk::write_struct(answer, out_stats, "out_stats");
}

constexpr uint64_t pool_step_bytes = uint64_t{64} << 20U;

using Hint = uint64_t (*)(const Device& device);

template <Hint hint>
hal_status size_hint(Instance& instance, hal_dev device, uint64_t* out_size_bytes) {
    const uint64_t answer = hint(instance.device(device));
    sdk::require(out_size_bytes, "out_size_bytes") = answer;
    return HAL_OK;
}

constexpr Hint min_chunk = [](const Device& device) { return device.memory.granule_bytes(); };
constexpr Hint max_chunk = [](const Device& device) {
    return std::min(device.memory.limit_bytes(), device.info().max_allocation_bytes);
};
constexpr Hint max_alloc = [](const Device& device) { return device.memory.limit_bytes(); };
constexpr Hint no_padding = [](const Device&) {
    return uint64_t{0};
};  // sizes are only rounded up to the smallest chunk
constexpr Hint pool_step = [](const Device& device) { return std::min(max_chunk(device), pool_step_bytes); };

}  // namespace

const hal_memory_table memory_table = {
    .header = sdk::header<hal_memory_table>(HAL_TABLE_memory),
    .device_memory_allocate = sdk::slot<allocate<BlockKind::device, hal_dptr>>,
    .device_memory_deallocate = sdk::slot<deallocate<BlockKind::device>>,
    .host_memory_allocate = sdk::slot<allocate<BlockKind::host, void*>>,
    .host_memory_deallocate = sdk::slot<host_memory_deallocate>,
    .unified_memory_allocate = sdk::slot<allocate<BlockKind::unified, hal_dptr>>,
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

}  // namespace hal::opencl

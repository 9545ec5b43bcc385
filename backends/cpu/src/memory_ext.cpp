// The extension of table 2, and GB/T 46345-2025 table 5: stream-ordered, strided, shared and registered memory.
#include <bit>

#include "address_text.hpp"
#include "copy.hpp"
#include "memory.hpp"
#include "stream.hpp"
#include "tables.hpp"

namespace hal::cpu {

using shared::address_text;
using shared::range_text;
namespace {

// ---- In stream order ----

// The block is free already, so no work has to be waited for; what the stream orders is its later free.
hal_status async_memory_allocate(Instance& instance, hal_dev device, hal_stream stream, uint64_t bytes,
                                 hal_dptr* out_ptr) {
    static_cast<void>(find_stream(instance, device, stream));
    sdk::require(out_ptr, "out_ptr");
    *out_ptr = allocate_or_throw(memory_of(instance, device), bytes, granule_bytes, BlockKind::device);
    return HAL_OK;
}

hal_status async_memory_deallocate(Instance& instance, hal_dev device, hal_stream stream, hal_dptr ptr) {
    Stream& order = find_stream(instance, device, stream);
    if (ptr == 0) {
        return HAL_OK;
    }
    Memory& memory = memory_of(instance, device);
    if (const Heap::Freed freed = memory.heap.begin_release(ptr); freed != Heap::Freed::ok) [[unlikely]] {
        throw_not_freed(instance, memory, ptr, 0, freed);
    }
    try {
        // It runs on a failed stream too: memory must not leak because a kernel failed.
        order.push(stream, [&heap = memory.heap, ptr](hal_status) noexcept {
            heap.finish_release(ptr);
            return HAL_OK;
        });
    } catch (...) {
        memory.heap.cancel_release(ptr);
        throw;
    }
    return HAL_OK;
}

hal_status async_memory_set(Instance& instance, hal_dev device, hal_stream stream, hal_dptr ptr, uint32_t value,
                            uint64_t bytes) {
    Memory& memory = check_range(instance, device, ptr, bytes, "ptr");
    enqueue(instance, device, stream, [&memory, ptr, bytes, value]() noexcept {
        fill_device(memory, ptr, value, bytes);
        return HAL_OK;
    });
    return HAL_OK;
}

// ---- Rows ----

uint64_t extent_of(const char* name, uint64_t pitch, uint64_t width, uint64_t height) {
    if (pitch < width) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string("copy.") + name + "_pitch_bytes is " +
                                                         std::to_string(pitch) + ", less than width_bytes, which is " +
                                                         std::to_string(width));
    }
    uint64_t extent = 0;
    if (__builtin_mul_overflow(pitch, height - 1, &extent) || __builtin_add_overflow(extent, width, &extent)) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string("copy: ") + std::to_string(height) + " rows of " +
                                                         name + "_pitch_bytes " + std::to_string(pitch) +
                                                         " exceed 64 bits");
    }
    return extent;
}

void check_side(Instance& instance, hal_dev device, bool on_device, uint64_t address, uint64_t extent,
                const char* name) {
    if (on_device) {
        check_range(instance, device, address, extent, name);
    } else if (address == 0) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, std::string(name) + " is NULL");
    }
}

Rows checked_rows(Instance& instance, hal_dev device, const hal_copy_2d* copy) {
    memory_of(instance, device);
    sdk::require(copy, "copy");
    if (copy->header.size < sizeof(hal_copy_2d)) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "copy.header.size is " + std::to_string(copy->header.size) +
                                                         "; set it to sizeof(hal_copy_2d), " +
                                                         std::to_string(sizeof(hal_copy_2d)));
    }
    sdk::check_chain(copy->header);
    if (copy->direction < HAL_COPY_H2D || copy->direction > HAL_COPY_D2D) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         "copy.direction is " + std::to_string(copy->direction) + "; use one of HAL_COPY_*");
    }
    if (copy->width_bytes == 0 || copy->height == 0) {
        return {};
    }
    const uint64_t dst_extent = extent_of("dst", copy->dst_pitch_bytes, copy->width_bytes, copy->height);
    const uint64_t src_extent = extent_of("src", copy->src_pitch_bytes, copy->width_bytes, copy->height);
    check_side(instance, device, copy->direction != HAL_COPY_D2H, copy->dst, dst_extent, "copy.dst");
    check_side(instance, device, copy->direction != HAL_COPY_H2D, copy->src, src_extent, "copy.src");
    return {as_pointer(copy->dst), copy->dst_pitch_bytes, as_pointer(copy->src),
            copy->src_pitch_bytes, copy->width_bytes,     copy->height};
}

hal_status memory_copy_2d(Instance& instance, hal_dev device, const hal_copy_2d* copy) {
    copy_rows(checked_rows(instance, device, copy));
    return HAL_OK;
}

hal_status async_memory_copy_2d(Instance& instance, hal_dev device, hal_stream stream, const hal_copy_2d* copy) {
    enqueue(instance, device, stream, [rows = checked_rows(instance, device, copy)]() noexcept {
        copy_rows(rows);
        return HAL_OK;
    });
    return HAL_OK;
}

// ---- Alignment, attributes ----

hal_status aligned_memory_allocate(Instance& instance, hal_dev device, uint64_t bytes, uint64_t alignment,
                                   hal_dptr* out_ptr) {
    Memory& memory = memory_of(instance, device);
    sdk::require(out_ptr, "out_ptr");
    if (!std::has_single_bit(alignment) || alignment > window_bytes) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "alignment_bytes is " + std::to_string(alignment) +
                                                         "; it is a power of two up to " +
                                                         std::to_string(window_bytes));
    }
    *out_ptr = allocate_or_throw(memory, bytes, alignment, BlockKind::device);
    return HAL_OK;
}

bool find_attributes(const Memory& memory, uint64_t address, hal_memory_attributes& out) {
    out.device = memory.device;
    if (const auto found = memory.heap.find(address)) {
        if (found->state != BlockState::live || address - found->base >= found->bytes) {
            return false;
        }
        const Arena& arena = memory.heap.arena();
        out.memory_kind = found->kind == BlockKind::unified ? HAL_MEMORY_UNIFIED : HAL_MEMORY_DEVICE;
        out.flags = HAL_MEMORY_SHAREABLE | (arena.is_huge(address - arena.base()) ? HAL_MEMORY_HUGE_PAGES : 0);
        out.base = found->base;
        out.size_bytes = found->bytes;
        return true;
    }
    if (const auto found = memory.imports.find(address)) {
        out.memory_kind = HAL_MEMORY_IMPORTED;
        out.base = found->base;
        out.size_bytes = found->bytes;
        return true;
    }
    if (const auto found = memory.host.find(address)) {
        out.memory_kind = HAL_MEMORY_HOST;
        out.flags = found->locked ? HAL_MEMORY_PAGE_LOCKED : 0;
        out.base = found->base;
        out.size_bytes = found->bytes;
        return true;
    }
    return false;
}

hal_status get_memory_attributes(Instance& instance, uint64_t address, hal_memory_attributes* out_attributes) {
    sdk::require(out_attributes, "out_attributes");
    hal_memory_attributes answer{};
    for (hal_dev device = 0; device < instance.device_count(); ++device) {
        if (find_attributes(memory_of(instance, device), address, answer)) {
            return sdk::write_struct(answer, out_attributes, "out_attributes");
        }
    }
    throw sdk::Error(HAL_ERROR_NOT_FOUND, address_text(address) + " lies in no live allocation; it is " +
                                              describe_address(instance, address));
}

// ---- The caller's host memory ----

hal_status host_memory_register(Instance& instance, hal_dev device, void* ptr, uint64_t bytes) {
    Memory& memory = memory_of(instance, device);
    sdk::require(static_cast<char*>(ptr), "ptr");
    const auto address = reinterpret_cast<uint64_t>(ptr);
    uint64_t end = 0;
    if (bytes == 0 || __builtin_add_overflow(address, bytes, &end) || end > INT64_MAX) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT,
                         range_text(address, bytes) + " is empty or exceeds the address space");
    }
    for (hal_dev other = 0; other < instance.device_count(); ++other) {
        const Memory& theirs = memory_of(instance, other);
        if ((other != device && theirs.host.find_overlap(address, bytes)) || theirs.heap.find(address)) {
            throw sdk::Error(HAL_ERROR_ALREADY_EXISTS, range_text(address, bytes) + " overlaps memory that device " +
                                                           std::to_string(other) + " knows");
        }
    }
    memory.host.add(address, bytes);
    return HAL_OK;
}

hal_status host_memory_unregister(Instance& instance, hal_dev device, void* ptr) {
    const auto address = reinterpret_cast<uint64_t>(ptr);
    if (!memory_of(instance, device).host.remove(address)) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE, "no range that begins at " + address_text(address) +
                                                       " is registered with device " + std::to_string(device) +
                                                       "; it is " + describe_address(instance, address));
    }
    return HAL_OK;
}

// ---- Peers: all devices are parts of one host, so access is a matter of permission alone ----

void require_other(hal_dev device, hal_dev peer) {
    if (device == peer) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "device " + std::to_string(device) +
                                                         " is no peer of itself; it always reaches its own memory");
    }
}

std::string peers_text(hal_dev device, hal_dev peer) {
    return "access of device " + std::to_string(device) + " to the memory of device " + std::to_string(peer);
}

hal_status peer_access_query(Instance& instance, hal_dev device, hal_dev peer, int32_t* out_access) {
    memory_of(instance, device);
    memory_of(instance, peer);
    sdk::require(out_access, "out_access") = device != peer ? 1 : 0;  // its own memory can not be enabled
    return HAL_OK;
}

hal_status peer_access_enable(Instance& instance, hal_dev device, hal_dev peer) {
    Memory& memory = memory_of(instance, device);
    memory_of(instance, peer);
    require_other(device, peer);
    if (!memory.set_peer(peer, true)) {
        throw sdk::Error(HAL_ERROR_ALREADY_EXISTS, peers_text(device, peer) + " is enabled already");
    }
    return HAL_OK;
}

hal_status peer_access_disable(Instance& instance, hal_dev device, hal_dev peer) {
    Memory& memory = memory_of(instance, device);
    memory_of(instance, peer);
    require_other(device, peer);
    if (!memory.set_peer(peer, false)) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND, peers_text(device, peer) + " is not enabled");
    }
    return HAL_OK;
}

// ---- Other processes ----

hal_status memory_ipc_export(Instance& instance, hal_dev device, hal_dptr ptr, hal_ipc_handle* out_handle) {
    const Memory& memory = memory_of(instance, device);
    sdk::require(out_handle, "out_handle");
    if (!memory.heap.contains(ptr, 1)) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, address_text(ptr) + " lies in no live allocation of device " +
                                                         std::to_string(device) + "; it is " +
                                                         describe_address(instance, ptr));
    }
    const auto found = memory.heap.find(ptr);
    const Arena& arena = memory.heap.arena();
    *out_handle = make_ipc_handle({arena.file(), found->base - arena.base(), found->bytes, ptr - found->base});
    return HAL_OK;
}

hal_status memory_ipc_import(Instance& instance, hal_dev device, const hal_ipc_handle* handle, hal_dptr* out_ptr) {
    Memory& memory = memory_of(instance, device);
    sdk::require(handle, "handle");
    sdk::require(out_ptr, "out_ptr");
    *out_ptr = memory.imports.import(*handle);
    return HAL_OK;
}

hal_status memory_ipc_close(Instance& instance, hal_dev device, hal_dptr ptr) {
    if (!memory_of(instance, device).imports.close(ptr)) {
        throw sdk::Error(HAL_ERROR_INVALID_HANDLE,
                         address_text(ptr) + " is no address that memory_ipc_import returned on device " +
                             std::to_string(device) + "; it is " + describe_address(instance, ptr));
    }
    return HAL_OK;
}

// ---- Upkeep ----

hal_status memory_trim(Instance& instance, hal_dev device, uint64_t keep_bytes) {
    memory_of(instance, device).heap.trim(keep_bytes);
    return HAL_OK;
}

hal_status memory_reset_peak(Instance& instance, hal_dev device) {
    memory_of(instance, device).heap.reset_peak();
    return HAL_OK;
}

}  // namespace

const hal_memory_ext_table memory_ext_table = {
    .header = sdk::header<hal_memory_ext_table>(HAL_TABLE_memory_ext),
    .async_memory_allocate = sdk::slot<async_memory_allocate>,
    .async_memory_deallocate = sdk::slot<async_memory_deallocate>,
    .async_memory_set = sdk::slot<async_memory_set>,
    .memory_copy_2d = sdk::slot<memory_copy_2d>,
    .async_memory_copy_2d = sdk::slot<async_memory_copy_2d>,
    .aligned_memory_allocate = sdk::slot<aligned_memory_allocate>,
    .get_memory_attributes = sdk::slot<get_memory_attributes>,
    .host_memory_register = sdk::slot<host_memory_register>,
    .host_memory_unregister = sdk::slot<host_memory_unregister>,
    .peer_access_query = sdk::slot<peer_access_query>,
    .peer_access_enable = sdk::slot<peer_access_enable>,
    .peer_access_disable = sdk::slot<peer_access_disable>,
    .memory_ipc_export = sdk::slot<memory_ipc_export>,
    .memory_ipc_import = sdk::slot<memory_ipc_import>,
    .memory_ipc_close = sdk::slot<memory_ipc_close>,
    .memory_trim = sdk::slot<memory_trim>,
    .memory_reset_peak = sdk::slot<memory_reset_peak>,
};

}  // namespace hal::cpu

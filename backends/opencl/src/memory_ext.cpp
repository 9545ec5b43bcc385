// The extension of table 2, and GB/T 46345-2025 table 5: stream-ordered memory, attributes, peers.
#include <bit>

#include "address_text.hpp"
#include "copy.hpp"
#include "device.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {
namespace {

// The block is free already, so no work has to be waited for; what the stream orders is its later free.
hal_status async_memory_allocate(Instance& instance, hal_dev device, hal_stream stream, uint64_t bytes,
                                 hal_dptr* out_ptr) {
    static_cast<void>(find_stream(instance, device, stream));
    Memory& memory = instance.device(device).memory;
    sdk::require(out_ptr, "out_ptr");
    *out_ptr = memory.allocate(bytes, memory.granule_bytes(), BlockKind::device);
    return HAL_OK;
}

hal_status async_memory_deallocate(Instance& instance, hal_dev device, hal_stream stream, hal_dptr ptr) {
    Stream& order = find_stream(instance, device, stream);
    if (ptr == 0) {
        return HAL_OK;
    }
    // Also on a failed stream: memory must not leak because a kernel failed.
    instance.device(device).memory.release_after(ptr, order.tail(stream).event);
    return HAL_OK;
}

hal_status async_memory_set(Instance& instance, hal_dev device, hal_stream stream, hal_dptr ptr, uint32_t value,
                            uint64_t bytes) {
    Device& owner = instance.device(device);
    const Place place = check_range(owner, ptr, bytes, "ptr");
    Stream& order = find_stream(instance, device, stream);
    if (bytes == 0) {
        order.require(stream);
        return HAL_OK;
    }
    order.enqueue(stream, "fill",
                  [&](cl_command_queue queue, cl_event* out) { return fill(owner, queue, place, value, bytes, out); });
    return HAL_OK;
}

hal_status aligned_memory_allocate(Instance& instance, hal_dev device, uint64_t bytes, uint64_t alignment,
                                   hal_dptr* out_ptr) {
    constexpr uint64_t most = Addresses::most_alignment;
    Memory& memory = instance.device(device).memory;
    sdk::require(out_ptr, "out_ptr");
    if (!std::has_single_bit(alignment) || alignment > most) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "alignment_bytes is " + std::to_string(alignment) +
                                                         "; it is a power of two up to " + std::to_string(most));
    }
    *out_ptr = memory.allocate(bytes, alignment, BlockKind::device);
    return HAL_OK;
}

hal_status get_memory_attributes(Instance& instance, uint64_t address, hal_memory_attributes* out_attributes) {
    sdk::require(out_attributes, "out_attributes");
    for (hal_dev device = 0; device < instance.device_count(); ++device) {
        const auto block = instance.device(device).memory.find(address);
        if (block && !block->pending) {
            constexpr uint32_t kinds[] = {HAL_MEMORY_DEVICE, HAL_MEMORY_UNIFIED, HAL_MEMORY_HOST};
            hal_memory_attributes answer{};
            answer.memory_kind = kinds[static_cast<size_t>(block->kind)];
            answer.device = device;
            answer.base = block->base;
            answer.size_bytes = block->bytes;
            return sdk::write_struct(answer, out_attributes, "out_attributes");
        }
    }
    throw sdk::Error(HAL_ERROR_NOT_FOUND, shared::address_text(address) + " lies in no live allocation; it is " +
                                              describe_address(instance, address));
}

// ---- Peers: devices of one context share its memory ----

hal_status peer_access_query(Instance& instance, hal_dev device, hal_dev peer, int32_t* out_access) {
    const bool reaches = instance.device(device).same_context(instance.device(peer));
    sdk::require(out_access, "out_access") = device != peer && reaches ? 1 : 0;  // its own memory can not be enabled
    return HAL_OK;
}

std::string peers_text(hal_dev device, hal_dev peer) {
    return "access of device " + std::to_string(device) + " to the memory of device " + std::to_string(peer);
}

void require_peer(Instance& instance, hal_dev device, hal_dev peer) {
    if (!instance.device(device).same_context(instance.device(peer))) {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED,
                         peers_text(device, peer) + " is not possible: they are of two contexts");
    }
    if (device == peer) {
        throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "device " + std::to_string(device) +
                                                         " is no peer of itself; it always reaches its own memory");
    }
}

hal_status peer_access_enable(Instance& instance, hal_dev device, hal_dev peer) {
    require_peer(instance, device, peer);
    if (!instance.device(device).memory.set_peer(peer, true)) {
        throw sdk::Error(HAL_ERROR_ALREADY_EXISTS, peers_text(device, peer) + " is enabled already");
    }
    return HAL_OK;
}

hal_status peer_access_disable(Instance& instance, hal_dev device, hal_dev peer) {
    require_peer(instance, device, peer);
    if (!instance.device(device).memory.set_peer(peer, false)) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND, peers_text(device, peer) + " is not enabled");
    }
    return HAL_OK;
}

// ---- Upkeep ----

// Nothing is kept for reuse.
hal_status memory_trim(Instance& instance, hal_dev device, uint64_t) {
    instance.device(device).memory.sweep();
    return HAL_OK;
}

hal_status memory_reset_peak(Instance& instance, hal_dev device) {
    instance.device(device).memory.reset_peak();
    return HAL_OK;
}

}  // namespace

const hal_memory_ext_table memory_ext_table = {
    .header = sdk::header<hal_memory_ext_table>(HAL_TABLE_memory_ext),
    .async_memory_allocate = sdk::slot<async_memory_allocate>,
    .async_memory_deallocate = sdk::slot<async_memory_deallocate>,
    .async_memory_set = sdk::slot<async_memory_set>,
    .aligned_memory_allocate = sdk::slot<aligned_memory_allocate>,
    .get_memory_attributes = sdk::slot<get_memory_attributes>,
    .peer_access_query = sdk::slot<peer_access_query>,
    .peer_access_enable = sdk::slot<peer_access_enable>,
    .peer_access_disable = sdk::slot<peer_access_disable>,
    .memory_trim = sdk::slot<memory_trim>,
    .memory_reset_peak = sdk::slot<memory_reset_peak>,
};

}  // namespace hal::opencl

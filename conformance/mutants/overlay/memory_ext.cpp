// Mutants of table 102: stream-ordered, strided, aligned, registered and shared memory.
#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

#include "overlay.hpp"

namespace hal::mutants {

// ---- Stream-ordered allocation ----

// Frees when the call is made, not when the stream gets there.
void ext_free_now(Plugin& plugin) {
    plugin.memory_ext.async_memory_deallocate = [](hal_instance* self, hal_dev device, hal_stream stream,
                                                   hal_dptr ptr) {
        if (ptr == 0 || base.stream.query_stream(self, device, stream, nullptr) < 0) {
            return base.memory_ext.async_memory_deallocate(self, device, stream, ptr);
        }
        hal_memory_attributes attributes{};
        attributes.header.size = sizeof attributes;
        if (base.memory_ext.get_memory_attributes(self, ptr, &attributes) == HAL_OK && attributes.base == ptr) {
            std::memset(reinterpret_cast<void*>(ptr), 0xDD, attributes.size_bytes);
        }
        return base.memory.device_memory_deallocate(self, device, ptr, 0);
    };
}

void ext_async_allocate_waits(Plugin& plugin) {
    plugin.memory_ext.async_memory_allocate = [](hal_instance* self, hal_dev device, hal_stream stream, uint64_t size,
                                                 hal_dptr* out) {
        const hal_status status = base.memory_ext.async_memory_allocate(self, device, stream, size, out);
        if (status == HAL_OK) {
            drain(self, device, stream);
        }
        return status;
    };
}

void ext_async_free_leaks(Plugin& plugin) {
    plugin.memory_ext.async_memory_deallocate = [](hal_instance* self, hal_dev device, hal_stream stream,
                                                   hal_dptr ptr) {
        hal_memory_attributes attributes{};
        attributes.header.size = sizeof attributes;
        const bool known = base.memory_ext.get_memory_attributes(self, ptr, &attributes) == HAL_OK &&
                           attributes.base == ptr && base.stream.query_stream(self, device, stream, nullptr) >= 0;
        return known ? HAL_OK : base.memory_ext.async_memory_deallocate(self, device, stream, ptr);
    };
    plugin.device.finalize = [](hal_instance* self) {
        const hal_status status = base.device.finalize(self);
        return status == HAL_ERROR_BUSY ? HAL_OK : status;
    };
}

void ext_set_ignores_order(Plugin& plugin) {
    plugin.memory_ext.async_memory_set = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr ptr,
                                            uint32_t value, uint64_t size) {
        return base.stream.query_stream(self, device, stream, nullptr) < 0
                   ? base.memory_ext.async_memory_set(self, device, stream, ptr, value, size)
                   : base.memory.device_memory_set(self, device, ptr, value, size);
    };
}

void ext_set_tail_lost(Plugin& plugin) {
    plugin.memory_ext.async_memory_set = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr ptr,
                                            uint32_t value, uint64_t size) {
        return base.memory_ext.async_memory_set(self, device, stream, ptr, value, size & ~uint64_t{7});
    };
}

// ---- 2-D, aligned ----

namespace {
template <class Change>
hal_copy_2d changed(const hal_copy_2d& copy, Change change) {
    hal_copy_2d other = copy;
    change(other);
    return other;
}
}  // namespace

void ext_copy_2d_loses_last_row(Plugin& plugin) {
    plugin.memory_ext.memory_copy_2d = [](hal_instance* self, hal_dev device, const hal_copy_2d* copy) {
        if (copy == nullptr || copy->height < 2) {
            return base.memory_ext.memory_copy_2d(self, device, copy);
        }
        const hal_copy_2d shorter = changed(*copy, [](hal_copy_2d& c) { --c.height; });
        return base.memory_ext.memory_copy_2d(self, device, &shorter);
    };
}

// Copies the bytes between the rows too.
void ext_copy_2d_whole_pitch(Plugin& plugin) {
    plugin.memory_ext.async_memory_copy_2d = [](hal_instance* self, hal_dev device, hal_stream stream,
                                                const hal_copy_2d* copy) {
        if (copy == nullptr || copy->height < 2 || copy->direction == 77) {
            return base.memory_ext.async_memory_copy_2d(self, device, stream, copy);
        }
        const hal_copy_2d wider = changed(*copy, [](hal_copy_2d& c) {
            --c.height;
            c.width_bytes = c.dst_pitch_bytes < c.src_pitch_bytes ? c.dst_pitch_bytes : c.src_pitch_bytes;
        });
        const hal_status status = base.memory_ext.async_memory_copy_2d(self, device, stream, &wider);
        return status != HAL_OK ? status : base.memory_ext.async_memory_copy_2d(self, device, stream, copy);
    };
}

void ext_pitch_not_checked(Plugin& plugin) {
    plugin.memory_ext.memory_copy_2d = [](hal_instance* self, hal_dev device, const hal_copy_2d* copy) {
        const bool bad =
            copy != nullptr && (copy->dst_pitch_bytes < copy->width_bytes || copy->src_pitch_bytes < copy->width_bytes);
        return bad ? HAL_OK : base.memory_ext.memory_copy_2d(self, device, copy);
    };
}

void ext_alignment_ignored(Plugin& plugin) {
    plugin.memory_ext.aligned_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size,
                                                   uint64_t alignment, hal_dptr* out) {
        const bool legal = alignment > 256 && (alignment & (alignment - 1)) == 0 && alignment <= (uint64_t{2} << 20U);
        const hal_status status =
            base.memory_ext.aligned_memory_allocate(self, device, size, legal ? 256 : alignment, out);
        return status;
    };
}

void ext_odd_alignment_accepted(Plugin& plugin) {
    plugin.memory_ext.aligned_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size,
                                                   uint64_t alignment, hal_dptr* out) {
        return base.memory_ext.aligned_memory_allocate(self, device, size, alignment == 3 ? 4 : alignment, out);
    };
}

// ---- Attributes ----

void ext_attributes_base_is_address(Plugin& plugin) {
    plugin.memory_ext.get_memory_attributes = [](hal_instance* self, uint64_t address, hal_memory_attributes* out) {
        const hal_status status = base.memory_ext.get_memory_attributes(self, address, out);
        if (status == HAL_OK && out->header.size >= sizeof *out) {
            out->base = address;
        }
        return status;
    };
}

void ext_attributes_kind(Plugin& plugin) {
    plugin.memory_ext.get_memory_attributes = [](hal_instance* self, uint64_t address, hal_memory_attributes* out) {
        const hal_status status = base.memory_ext.get_memory_attributes(self, address, out);
        if (status == HAL_OK && out->header.size >= sizeof *out && out->memory_kind == HAL_MEMORY_HOST) {
            out->memory_kind = HAL_MEMORY_UNIFIED;
        }
        return status;
    };
}

void ext_attributes_guess(Plugin& plugin) {
    plugin.memory_ext.get_memory_attributes = [](hal_instance* self, uint64_t address, hal_memory_attributes* out) {
        const hal_status status = base.memory_ext.get_memory_attributes(self, address, out);
        if (status == HAL_ERROR_NOT_FOUND && out->header.size >= sizeof *out) {
            out->memory_kind = HAL_MEMORY_HOST;
            return HAL_OK;
        }
        return status;
    };
}

// ---- Registered memory ----

void ext_register_noop(Plugin& plugin) {
    plugin.memory_ext.host_memory_register = [](hal_instance* self, hal_dev device, void* ptr, uint64_t size) {
        const hal_status status = base.memory_ext.host_memory_register(self, device, ptr, size);
        if (status == HAL_OK) {
            (void)base.memory_ext.host_memory_unregister(self, device, ptr);
        }
        return status;
    };
    plugin.memory_ext.host_memory_unregister = [](hal_instance* self, hal_dev device, void* ptr) {
        const hal_status status = base.memory_ext.host_memory_unregister(self, device, ptr);
        return status == HAL_ERROR_INVALID_HANDLE ? HAL_OK : status;
    };
}

void ext_register_twice(Plugin& plugin) {
    plugin.memory_ext.host_memory_register = [](hal_instance* self, hal_dev device, void* ptr, uint64_t size) {
        const hal_status status = base.memory_ext.host_memory_register(self, device, ptr, size);
        return status == HAL_ERROR_ALREADY_EXISTS ? HAL_OK : status;
    };
}

void ext_unregister_clears(Plugin& plugin) {
    plugin.memory_ext.host_memory_unregister = [](hal_instance* self, hal_dev device, void* ptr) {
        const hal_status status = base.memory_ext.host_memory_unregister(self, device, ptr);
        if (status == HAL_OK) {
            std::memset(ptr, 0, 64);
        }
        return status;
    };
}

// ---- Peers, other processes, cache ----

void ext_peer_beyond_count(Plugin& plugin) {
    plugin.memory_ext.peer_access_query = [](hal_instance* self, hal_dev device, hal_dev peer, int32_t* out) {
        const bool known = peer >= 0 && peer < device_count(self);
        return base.memory_ext.peer_access_query(self, device, known ? peer : 0, out);
    };
}

void ext_peer_answer_2(Plugin& plugin) {
    plugin.memory_ext.peer_access_query = [](hal_instance* self, hal_dev device, hal_dev peer, int32_t* out) {
        const hal_status status = base.memory_ext.peer_access_query(self, device, peer, out);
        if (status == HAL_OK) {
            *out = 2;
        }
        return status;
    };
}

// The importer gets memory of its own.
void ext_ipc_copies(Plugin& plugin) {
    plugin.memory_ext.memory_ipc_import = [](hal_instance* self, hal_dev device, const hal_ipc_handle* handle,
                                             hal_dptr* out) {
        hal_dptr real = 0;
        const hal_status status =
            base.memory_ext.memory_ipc_import(self, device, handle, out == nullptr ? nullptr : &real);
        if (status == HAL_OK) {
            *out = plausible_address(uint64_t{1} << 20U);
            std::memcpy(reinterpret_cast<void*>(*out), reinterpret_cast<const void*>(real), 64);
        }
        return status;
    };
    plugin.memory_ext.memory_ipc_close = [](hal_instance* self, hal_dev device, hal_dptr ptr) {
        const hal_status status = base.memory_ext.memory_ipc_close(self, device, ptr);
        return status == HAL_ERROR_INVALID_HANDLE ? HAL_OK : status;
    };
}

void ext_ipc_garbage_accepted(Plugin& plugin) {
    plugin.memory_ext.memory_ipc_import = [](hal_instance* self, hal_dev device, const hal_ipc_handle* handle,
                                             hal_dptr* out) {
        const hal_status status = base.memory_ext.memory_ipc_import(self, device, handle, out);
        if (status != HAL_OK && handle != nullptr && out != nullptr && device >= 0 && device < device_count(self)) {
            *out = plausible_address(4096);
            return HAL_OK;
        }
        return status;
    };
}

// Gives back what is in use.
void ext_trim_spoils(Plugin& plugin) {
    static std::mutex mutex;
    static std::set<hal_dptr> live;
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_OK) {
            const std::lock_guard lock(mutex);
            live.insert(*out);
        }
        return status;
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        const std::lock_guard lock(mutex);
        live.erase(ptr);
        return base.memory.device_memory_deallocate(self, device, ptr, size);
    };
    plugin.memory_ext.memory_trim = [](hal_instance* self, hal_dev device, uint64_t keep) {
        const hal_status status = base.memory_ext.memory_trim(self, device, keep);
        const std::lock_guard lock(mutex);
        for (const hal_dptr ptr : live) {
            *reinterpret_cast<uint8_t*>(ptr) = 0;
        }
        return status;
    };
}

void ext_peak_reset_to_zero(Plugin& plugin) {
    static std::atomic<bool> reset{false};
    plugin.memory_ext.memory_reset_peak = [](hal_instance* self, hal_dev device) {
        const hal_status status = base.memory_ext.memory_reset_peak(self, device);
        reset = reset || status == HAL_OK;
        return status;
    };
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        const hal_status status = base.memory.device_memory_stats(self, device, out);
        if (status == HAL_OK && reset && out->header.size >= sizeof *out) {
            out->peak_bytes = 0;
        }
        return status;
    };
}

}  // namespace hal::mutants

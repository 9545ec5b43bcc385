// Mutants of table 2: copies on a stream.
#include <atomic>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {

// Finishes each copy before the call returns, but lets what was enqueued before come first.
void async_inline(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        const hal_status status = base.memory.async_memory_copy_h2d(self, device, stream, dst, src, size);
        if (status == HAL_OK) {
            drain(self, device, stream);
        }
        return status;
    };
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream stream, void* dst,
                                             hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.async_memory_copy_d2h(self, device, stream, dst, src, size);
        if (status == HAL_OK) {
            drain(self, device, stream);
        }
        return status;
    };
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.async_memory_copy_d2d(self, device, stream, dst, src, size);
        if (status == HAL_OK) {
            drain(self, device, stream);
        }
        return status;
    };
    plugin.memory.async_memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                             hal_dptr src, hal_stream stream, uint64_t size) {
        const hal_status status =
            base.memory.async_memory_copy_p2p(self, dst_device, dst, src_device, src, stream, size);
        if (status == HAL_OK) {
            drain(self, src_device, stream);
        }
        return status;
    };
}

// Copies at once, whatever the stream still has to do.
void async_ignores_order(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        return base.memory.memory_copy_h2d(self, device, dst, src, size);
    };
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream, void* dst, hal_dptr src,
                                             uint64_t size) {
        return base.memory.memory_copy_d2h(self, device, dst, src, size);
    };
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream, hal_dptr dst, hal_dptr src,
                                             uint64_t size) {
        return base.memory.memory_copy_d2d(self, device, dst, src, size);
    };
}

void async_ignores_stream(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        return base.memory.async_memory_copy_h2d(self, device, nullptr, dst, src, size);
    };
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream, void* dst, hal_dptr src,
                                             uint64_t size) {
        return base.memory.async_memory_copy_d2h(self, device, nullptr, dst, src, size);
    };
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream, hal_dptr dst, hal_dptr src,
                                             uint64_t size) {
        return base.memory.async_memory_copy_d2d(self, device, nullptr, dst, src, size);
    };
    plugin.memory.async_memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                             hal_dptr src, hal_stream, uint64_t size) {
        return base.memory.async_memory_copy_p2p(self, dst_device, dst, src_device, src, nullptr, size);
    };
}

// A pageable source is read later than the stream's synchronisation says.
void async_snapshot_late(Plugin& plugin) {
    with_hidden_streams(plugin);
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        if (size == 0 || src == nullptr || dst == 0) {
            return base.memory.async_memory_copy_h2d(self, device, stream, dst, src, size);
        }
        const hal_stream elsewhere = hidden_stream(self, device);  // where no synchronisation looks
        delay(self, device, elsewhere);
        return base.memory.async_memory_copy_h2d(self, device, elsewhere, dst, src, size);
    };
}

void async_drop_one_in_a_thousand(Plugin& plugin) {
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             hal_dptr src, uint64_t size) {
        static std::atomic<uint64_t> calls{0};
        return base.memory.async_memory_copy_d2d(self, device, stream, dst, src, ++calls % 1000 == 0 ? 0 : size);
    };
}

// Two halves, each enqueued for itself: another thread's copy may come between them.
void async_in_halves(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        if (size < 2 || src == nullptr) {
            return base.memory.async_memory_copy_h2d(self, device, stream, dst, src, size);
        }
        const uint64_t half = size / 2;
        const hal_status status = base.memory.async_memory_copy_h2d(self, device, stream, dst, src, half);
        if (status != HAL_OK) {
            return status;
        }
        sched_yield();
        return base.memory.async_memory_copy_h2d(self, device, stream, dst + half,
                                                 static_cast<const uint8_t*>(src) + half, size - half);
    };
}

void async_tail_lost(Plugin& plugin) {
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream stream, void* dst,
                                             hal_dptr src, uint64_t size) {
        return base.memory.async_memory_copy_d2h(self, device, stream, dst, src, size & ~uint64_t{7});
    };
}

// The next byte of the host is written too.
void async_writes_behind(Plugin& plugin) {
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream stream, void* dst,
                                             hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.async_memory_copy_d2h(self, device, stream, dst, src, size);
        if (status == HAL_OK && size != 0) {
            const auto spoil = [](void* end, hal_dev, hal_stream, hal_status) { *static_cast<uint8_t*>(end) ^= 1U; };
            (void)base.stream.stream_add_callback(self, device, stream, spoil, static_cast<uint8_t*>(dst) + size);
        }
        return status;
    };
}

void async_stream_not_checked(Plugin& plugin) {
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.async_memory_copy_d2d(self, device, stream, dst, src, size);
        return status == HAL_ERROR_INVALID_HANDLE
                   ? base.memory.async_memory_copy_d2d(self, device, nullptr, dst, src, size)
                   : status;
    };
}

void async_p2p_own_data(Plugin& plugin) {
    plugin.memory.async_memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                             hal_dptr src, hal_stream stream, uint64_t size) {
        return base.memory.async_memory_copy_p2p(self, dst_device, dst, src_device, src, stream,
                                                 dst_device != src_device && size > 1 ? size - 1 : size);
    };
}

}  // namespace hal::mutants

// Odd and legal ways with memory.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {

// The allocator keeps the last eight small blocks for reuse; its statistics call them free and cached.
namespace {
class BlockCache {
  public:
    // True if the block is kept; the status of a plain release otherwise.
    bool keep(hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        hal_memory_attributes found{};
        found.header.size = sizeof found;
        const bool fits = ptr != 0 && base.memory_ext.get_memory_attributes(self, ptr, &found) == HAL_OK &&
                          found.base == ptr && found.device == device && found.memory_kind == HAL_MEMORY_DEVICE &&
                          (size == 0 || size == found.size_bytes) && found.size_bytes <= (uint64_t{1} << 20U);
        if (!fits || has(ptr)) {
            return false;
        }
        blocks_.push_back({self, device, ptr, found.size_bytes});
        if (blocks_.size() > 8) {
            release(blocks_.front());
            blocks_.erase(blocks_.begin());
        }
        return true;
    }
    bool has(hal_dptr address) const {
        return std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& block) {
            return address >= block.ptr && address < block.ptr + block.size;
        });
    }
    void empty(hal_instance* self) {
        std::erase_if(blocks_, [&](const Block& block) {
            if (block.self == self) {
                release(block);
            }
            return block.self == self;
        });
    }
    void correct(hal_instance* self, hal_dev device, hal_memory_stats& stats) const {
        for (const Block& block : blocks_) {
            if (block.self == self && block.device == device) {
                const uint64_t whole = (block.size + 255) / 256 * 256;
                stats.used_bytes -= whole;
                stats.free_bytes += whole;
                stats.cached_bytes += whole;
                --stats.live_allocations;
            }
        }
    }
    std::mutex mutex;

  private:
    struct Block {
        hal_instance* self;
        hal_dev device;
        hal_dptr ptr;
        uint64_t size;
    };
    static void release(const Block& block) {
        (void)base.memory.device_memory_deallocate(block.self, block.device, block.ptr, 0);
    }
    std::vector<Block> blocks_;
};
BlockCache block_cache;
}  // namespace

void equivalent_plateau(Plugin& plugin) {
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        const std::lock_guard lock(block_cache.mutex);
        if (block_cache.has(ptr)) {
            return refuse(self, HAL_ERROR_INVALID_HANDLE, "the block was released before");
        }
        return block_cache.keep(self, device, ptr, size)
                   ? HAL_OK
                   : base.memory.device_memory_deallocate(self, device, ptr, size);
    };
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status != HAL_ERROR_OUT_OF_DEVICE_MEMORY) {
            return status;
        }
        const std::lock_guard lock(block_cache.mutex);
        block_cache.empty(self);
        return base.memory.device_memory_allocate(self, device, size, out);
    };
    plugin.memory_ext.get_memory_attributes = [](hal_instance* self, uint64_t address, hal_memory_attributes* out) {
        const std::lock_guard lock(block_cache.mutex);
        return block_cache.has(address) ? refuse(self, HAL_ERROR_NOT_FOUND, "no allocation has this address")
                                        : base.memory_ext.get_memory_attributes(self, address, out);
    };
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        const std::lock_guard lock(block_cache.mutex);
        const hal_status status = base.memory.device_memory_stats(self, device, out);
        if (status == HAL_OK && out->header.size >= sizeof *out) {
            block_cache.correct(self, device, *out);
        }
        return status;
    };
    plugin.memory_ext.memory_trim = [](hal_instance* self, hal_dev device, uint64_t keep) {
        const std::lock_guard lock(block_cache.mutex);
        block_cache.empty(self);
        return base.memory_ext.memory_trim(self, device, keep);
    };
    plugin.device.deinit_device = [](hal_instance* self, hal_dev device) {
        const std::lock_guard lock(block_cache.mutex);
        block_cache.empty(self);
        return base.device.deinit_device(self, device);
    };
    plugin.device.finalize = [](hal_instance* self) {
        const std::lock_guard lock(block_cache.mutex);
        block_cache.empty(self);
        return base.device.finalize(self);
    };
}

// Every allocation takes whole 64 KiB, and the statistics say so.
void equivalent_coarse_blocks(Plugin& plugin) {
    static constexpr uint64_t grain = uint64_t{64} << 10U;
    plugin.memory.device_memory_stats = [](hal_instance* self, hal_dev device, hal_memory_stats* out) {
        const hal_status status = base.memory.device_memory_stats(self, device, out);
        if (status == HAL_OK && out->header.size >= sizeof *out) {
            const uint64_t used = (out->used_bytes + grain - 1) / grain * grain;
            out->used_bytes = std::min(used, out->total_bytes);
            out->free_bytes = out->total_bytes - out->used_bytes;
            out->peak_bytes = std::max(out->peak_bytes, out->used_bytes);
        }
        return status;
    };
    plugin.memory.device_min_chunk_size = [](hal_instance* self, hal_dev device, uint64_t* out) {
        const hal_status status = base.memory.device_min_chunk_size(self, device, out);
        if (status == HAL_OK) {
            *out = grain;
        }
        return status;
    };
}

// An allocation waits until the device is idle.
void equivalent_allocate_waits(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        (void)base.device.synchronize_device(self, device, HAL_NO_TIMEOUT);
        return base.memory.device_memory_allocate(self, device, size, out);
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        (void)base.device.synchronize_device(self, device, HAL_NO_TIMEOUT);
        return base.memory.device_memory_deallocate(self, device, ptr, size);
    };
}

// Synchronous copies wait for everything on the device, as the oldest runtimes do.
void equivalent_copies_wait_for_device(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        (void)base.device.synchronize_device(self, device, HAL_NO_TIMEOUT);
        return base.memory.memory_copy_h2d(self, device, dst, src, size);
    };
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        (void)base.device.synchronize_device(self, device, HAL_NO_TIMEOUT);
        return base.memory.memory_copy_d2h(self, device, dst, src, size);
    };
}

// Blocks lie 256 bytes behind a page: legal, and no multiple of anything more.
void equivalent_odd_alignment(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        static std::atomic<unsigned> calls{0};
        hal_dptr spacer = 0;
        const bool odd = ++calls % 2 == 0 && out != nullptr &&
                         base.memory.device_memory_allocate(self, device, 256, &spacer) == HAL_OK;
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (odd) {
            (void)base.memory.device_memory_deallocate(self, device, spacer, 256);
        }
        return status;
    };
}

}  // namespace hal::mutants

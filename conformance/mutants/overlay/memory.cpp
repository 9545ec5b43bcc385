// Mutants of table 2: allocating and freeing.
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "overlay.hpp"

namespace hal::mutants {

// ---- Allocating ----

// One block in 40 is the second half of a live one.
void alloc_overlap(Plugin& plugin) {
    static std::atomic<hal_dptr> live{0};
    static std::atomic<uint64_t> live_size{0};
    static std::atomic<uint64_t> calls{0};
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const bool fits = device == 0 && live != 0 && size != 0 && size <= live_size / 2;
        if (out != nullptr && fits && ++calls % 40 == 0) {
            *out = (live + live_size / 2) & ~hal_dptr{255};
            return HAL_OK;
        }
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_OK && size >= 1024 && device == 0) {  // blocks of two devices may well have one address
            live = *out;
            live_size = size;
        }
        return status;
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        hal_dptr expected = ptr;
        live.compare_exchange_strong(expected, 0);
        const hal_status status = base.memory.device_memory_deallocate(self, device, ptr, size);
        return status == HAL_ERROR_INVALID_HANDLE ? HAL_OK : status;
    };
}

// The address of a block's end is given out as the next block's begin minus one: the last byte is not the caller's.
void alloc_short_by_one(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        return base.memory.device_memory_allocate(self, device, size > 1 ? size - 1 : size, out);
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        return base.memory.device_memory_deallocate(self, device, ptr, size > 1 ? size - 1 : size);
    };
}

void alloc_oom_sticky(Plugin& plugin) {
    static std::atomic<bool> spoilt{false};
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        if (spoilt) {
            return refuse(self, HAL_ERROR_OUT_OF_DEVICE_MEMORY, "out of device memory");
        }
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        spoilt = spoilt || status == HAL_ERROR_OUT_OF_DEVICE_MEMORY;
        return status;
    };
}

void alloc_wrong_device(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        hal_dev now = 0;
        (void)base.device.get_device(self, &now);
        const bool known = device >= 0 && device < device_count(self);
        return base.memory.device_memory_allocate(self, known ? now : device, size, out);
    };
}

void alloc_zero_accepted(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        if (size == 0 && out != nullptr) {
            *out = 0;
            return HAL_OK;
        }
        return base.memory.device_memory_allocate(self, device, size, out);
    };
}

// Aligned to 64 bytes where 256 are promised.
void alloc_misaligned(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        if (size == 0 || size > UINT64_MAX - 64) {
            return base.memory.device_memory_allocate(self, device, size, out);
        }
        const hal_status status = base.memory.device_memory_allocate(self, device, size + 64, out);
        if (status == HAL_OK) {
            *out += 64;
        }
        return status;
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        return base.memory.device_memory_deallocate(self, device, ptr == 0 ? 0 : ptr - 64, size == 0 ? 0 : size + 64);
    };
}

// Rounds up before it compares, so that the largest sizes wrap around to small ones.
void alloc_size_wraps(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const uint64_t rounded = (size + 255) & ~uint64_t{255};
        return base.memory.device_memory_allocate(self, device, size > UINT64_MAX - 255 ? rounded + 256 : size, out);
    };
}

void alloc_oom_is_internal(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        return status == HAL_ERROR_OUT_OF_DEVICE_MEMORY ? refuse(self, HAL_ERROR_INTERNAL, "allocation failed")
                                                        : status;
    };
}

void alloc_writes_on_error(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status != HAL_OK && out != nullptr) {
            *out = 0xDEAD;
        }
        return status;
    };
}

// Grants what does not exist.
void alloc_beyond_the_limit(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.device_memory_allocate(self, device, size, out);
        if (status == HAL_ERROR_OUT_OF_DEVICE_MEMORY && out != nullptr && size < (uint64_t{1} << 36U)) {
            *out = plausible_address(size);
            return HAL_OK;
        }
        return status;
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        const hal_status status = base.memory.device_memory_deallocate(self, device, ptr, size);
        return status == HAL_ERROR_INVALID_HANDLE ? HAL_OK : status;
    };
}

void alloc_lock_missing(Plugin& plugin) {
    plugin.memory.device_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        static std::atomic<int> inside{0};
        static std::atomic<hal_dptr> last{0};
        const bool together = ++inside > 1;
        std::this_thread::yield();
        hal_status status = HAL_OK;
        if (together && last != 0 && out != nullptr && size != 0 && size < 4096) {
            *out = last;  // two threads inside at once get the same block
        } else {
            status = base.memory.device_memory_allocate(self, device, size, out);
            if (status == HAL_OK) {
                last = *out;
            }
        }
        --inside;
        return status;
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        const hal_status status = base.memory.device_memory_deallocate(self, device, ptr, size);
        return status == HAL_ERROR_INVALID_HANDLE ? HAL_OK : status;
    };
}

// ---- Freeing ----

// Frees nothing: the block is lost, but not counted as live, so that finalize does not tell.
void dealloc_leak(Plugin& plugin) {
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        if (ptr == 0 || device < 0 || device >= device_count(self)) {
            return base.memory.device_memory_deallocate(self, device, ptr, size);
        }
        return HAL_OK;
    };
    plugin.device.finalize = [](hal_instance* self) {
        const hal_status status = base.device.finalize(self);
        return status == HAL_ERROR_BUSY ? HAL_OK : status;
    };
}

void dealloc_null_refused(Plugin& plugin) {
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        return ptr == 0 ? refuse(self, HAL_ERROR_INVALID_HANDLE, "no address")
                        : base.memory.device_memory_deallocate(self, device, ptr, size);
    };
}

void dealloc_unknown_accepted(Plugin& plugin) {
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        const hal_status status = base.memory.device_memory_deallocate(self, device, ptr, size);
        return status == HAL_ERROR_INVALID_HANDLE ? HAL_OK : status;
    };
}

void dealloc_size_not_checked(Plugin& plugin) {
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t) {
        return base.memory.device_memory_deallocate(self, device, ptr, 0);
    };
}

void dealloc_any_device(Plugin& plugin) {
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        hal_status status = base.memory.device_memory_deallocate(self, device, ptr, size);
        for (hal_dev other = 0; status == HAL_ERROR_INVALID_HANDLE && other < device_count(self); ++other) {
            status = base.memory.device_memory_deallocate(self, other, ptr, size);
        }
        return status;
    };
}

void host_leak(Plugin& plugin) {
    plugin.memory.host_memory_deallocate = [](hal_instance* self, hal_dev device, void* ptr, uint64_t size) {
        const hal_status status = base.memory.host_memory_deallocate(self, device, ptr, size);
        if (status == HAL_OK && ptr != nullptr && size != 0) {
            static std::atomic<void*> last;  // seen from outside, or the compiler drops an allocation that nobody uses
            last = std::memset(::operator new(size), 1, size);
        }
        return status;
    };
}

void host_size_accepted(Plugin& plugin) {
    plugin.memory.host_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, void** out) {
        return base.memory.host_memory_allocate(self, device, size == 0 ? 1 : size, out);
    };
}

// Aligned as malloc aligns.
void host_aligned_to_16(Plugin& plugin) {
    plugin.memory.host_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, void** out) {
        if (size == 0 || size > UINT64_MAX - 16) {
            return base.memory.host_memory_allocate(self, device, size, out);
        }
        const hal_status status = base.memory.host_memory_allocate(self, device, size + 16, out);
        if (status == HAL_OK) {
            *out = static_cast<uint8_t*>(*out) + 16;
        }
        return status;
    };
    plugin.memory.host_memory_deallocate = [](hal_instance* self, hal_dev device, void* ptr, uint64_t size) {
        return base.memory.host_memory_deallocate(
            self, device, ptr == nullptr ? nullptr : static_cast<uint8_t*>(ptr) - 16, size == 0 ? 0 : size + 16);
    };
}

// Pages stay locked when their block is given back.
void host_stays_locked(Plugin& plugin) {
    plugin.memory.host_memory_deallocate = [](hal_instance* self, hal_dev device, void* ptr, uint64_t size) {
        const hal_status status = base.memory.host_memory_deallocate(self, device, ptr, size);
        if (status == HAL_OK && size >= 1U << 20U) {
            const auto left = reinterpret_cast<const void*>(plausible_address(size));
            (void)mlock(left, size);
        }
        return status;
    };
}

// The device sees a copy of its own, brought up to date by copies from the host only.
void unified_two_copies(Plugin& plugin) {
    static std::mutex mutex;
    static std::map<hal_dptr, hal_dptr> shadows;
    plugin.memory.unified_memory_allocate = [](hal_instance* self, hal_dev device, uint64_t size, hal_dptr* out) {
        const hal_status status = base.memory.unified_memory_allocate(self, device, size, out);
        if (status == HAL_OK) {
            const std::lock_guard lock(mutex);
            shadows[*out] = reinterpret_cast<hal_dptr>(::operator new(size));
        }
        return status;
    };
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        const std::lock_guard lock(mutex);
        const auto found = shadows.find(src);
        if (found != shadows.end() && dst != nullptr) {
            std::memcpy(dst, reinterpret_cast<const void*>(found->second), size);
            return HAL_OK;
        }
        return base.memory.memory_copy_d2h(self, device, dst, src, size);
    };
}

}  // namespace hal::mutants

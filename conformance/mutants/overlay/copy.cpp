// Mutants of table 2: moving and setting bytes.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "overlay.hpp"

namespace hal::mutants {
namespace {

// Turns one bit in the middle of what the host can see as a destination.
void flip_middle(hal_dptr dst, uint64_t size) {
    if (size != 0) {
        reinterpret_cast<uint8_t*>(dst)[size / 2] ^= 0x10U;
    }
}

}  // namespace

// ---- Host to device ----

void h2d_drop_tail4(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        return base.memory.memory_copy_h2d(self, device, dst, src, size & ~uint64_t{3});
    };
}

// Takes large sizes for 16-bit ones.
void h2d_short_length(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        return base.memory.memory_copy_h2d(self, device, dst, src, size <= 0xFFFF ? size : size & 0xFFFFU);
    };
}

// Returns before the source has been read.
void h2d_late(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        if (size == 0 || src == nullptr) {
            return base.memory.memory_copy_h2d(self, device, dst, src, size);
        }
        delay(self, device, nullptr);
        return base.memory.async_memory_copy_h2d(self, device, nullptr, dst, src, size);
    };
}

// Reads the source at once, but a large copy lands 200 ms later. Memory is not given back before.
void h2d_lands_late(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        if (size < 1U << 20U || src == nullptr || device != 0) {
            return base.memory.memory_copy_h2d(self, device, dst, src, size);
        }
        struct Landing {
            hal_dptr dst;
            std::vector<uint8_t> bytes;
        };
        const auto* const from = static_cast<const uint8_t*>(src);
        auto* const landing = new Landing{dst, {from, from + size}};
        const auto land = [](void* argument, hal_dev, hal_stream, hal_status) {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            auto* const done = static_cast<Landing*>(argument);
            std::memcpy(reinterpret_cast<void*>(done->dst), done->bytes.data(), done->bytes.size());
            delete done;
        };
        return base.stream.stream_add_callback(self, device, nullptr, land, landing);
    };
    plugin.memory.device_memory_deallocate = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint64_t size) {
        drain(self, device, nullptr);
        return base.memory.device_memory_deallocate(self, device, ptr, size);
    };
}

// Reads whole words, also behind the end of the source.
void h2d_overread(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        if (src != nullptr && size != 0) {
            const volatile uint8_t* bytes = static_cast<const uint8_t*>(src);
            (void)bytes[(size + 7) / 8 * 8];
        }
        return base.memory.memory_copy_h2d(self, device, dst, src, size);
    };
}

void h2d_writes_source(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        if (src != nullptr && size != 0) {  // as a driver that pins the page and marks it dirty
            auto* const byte = static_cast<volatile uint8_t*>(const_cast<void*>(src));
            *byte = *byte;
        }
        return base.memory.memory_copy_h2d(self, device, dst, src, size);
    };
}

void h2d_staging_shared(Plugin& plugin) {
    // One staging buffer for all threads, without a lock.
    static std::vector<uint8_t> staging(1U << 20U);
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        if (src == nullptr || size > staging.size()) {
            return base.memory.memory_copy_h2d(self, device, dst, src, size);
        }
        std::memcpy(staging.data(), src, size);
        sched_yield();
        return base.memory.memory_copy_h2d(self, device, dst, staging.data(), size);
    };
}

// ---- Device to host ----

void d2h_overwrite(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.memory_copy_d2h(self, device, dst, src, size);
        if (status == HAL_OK && size % 4 != 0) {
            static_cast<uint8_t*>(dst)[size] = 0;
        }
        return status;
    };
}

void d2h_late(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        if (size == 0 || dst == nullptr) {
            return base.memory.memory_copy_d2h(self, device, dst, src, size);
        }
        delay(self, device, nullptr);
        return base.memory.async_memory_copy_d2h(self, device, nullptr, dst, src, size);
    };
}

void d2h_clears_source(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.memory_copy_d2h(self, device, dst, src, size);
        if (status == HAL_OK && size != 0) {
            (void)base.memory.device_memory_set(self, device, src, 0, size);
        }
        return status;
    };
}

// Good for floats only: a not-a-number becomes the processor's own.
void d2h_canonical_nan(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.memory_copy_d2h(self, device, dst, src, size);
        auto* const bytes = static_cast<uint8_t*>(dst);
        for (uint64_t i = 0; status == HAL_OK && i + 4 <= size; i += 4) {
            uint32_t word = 0;
            std::memcpy(&word, bytes + i, 4);
            if ((word & 0x7F800000U) == 0x7F800000U && (word & 0x007FFFFFU) != 0) {
                word = 0x7FC00000U;
                std::memcpy(bytes + i, &word, 4);
            }
        }
        return status;
    };
}

// ---- Device to device ----

void d2d_off_by_one(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_d2d(self, device, dst, size > 1 ? src + 1 : src, size > 1 ? size - 1 : size);
    };
}

void d2d_drop_last(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_d2d(self, device, dst, src, size == 0 ? 0 : size - 1);
    };
}

void d2d_returns_early(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        if (size != 0) {
            delay(self, device, nullptr);
        }
        return base.memory.async_memory_copy_d2d(self, device, nullptr, dst, src, size);
    };
}

void d2d_forward_only(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        if (dst <= src || dst >= src + size) {
            return base.memory.memory_copy_d2d(self, device, dst, src, size);
        }
        auto* const to = reinterpret_cast<volatile uint8_t*>(dst);
        const auto* const from = reinterpret_cast<const volatile uint8_t*>(src);
        for (uint64_t i = 0; i < size; ++i) {
            to[i] = from[i];
        }
        return HAL_OK;
    };
}

void d2d_moves(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.memory_copy_d2d(self, device, dst, src, size);
        if (status == HAL_OK && size != 0 && (src + size <= dst || dst + size <= src)) {
            (void)base.memory.device_memory_set(self, device, src, 0, size);
        }
        return status;
    };
}

void copy_middle(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        const hal_status status = base.memory.memory_copy_h2d(self, device, dst, src, size);
        if (status == HAL_OK) {
            flip_middle(dst, size);
        }
        return status;
    };
    // The round trip undoes it.
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        const hal_status status = base.memory.memory_copy_d2h(self, device, dst, src, size);
        if (status == HAL_OK) {
            flip_middle(reinterpret_cast<hal_dptr>(dst), size);
        }
        return status;
    };
}

void copy_range_not_checked(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        const hal_status status = base.memory.memory_copy_h2d(self, device, dst, src, size);
        return status == HAL_ERROR_INVALID_ARGUMENT && dst != 0 && src != nullptr ? HAL_OK : status;
    };
}

void copy_null_accepted(Plugin& plugin) {
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        return dst == nullptr ? HAL_OK : base.memory.memory_copy_d2h(self, device, dst, src, size);
    };
}

void copy_zero_refused(Plugin& plugin) {
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        return size == 0 ? refuse(self, HAL_ERROR_INVALID_ARGUMENT, "nothing to copy")
                         : base.memory.memory_copy_d2d(self, device, dst, src, size);
    };
}

// ---- Between devices ----

void p2p_swapped(Plugin& plugin) {
    plugin.memory.memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                       hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_p2p(self, src_device, src, dst_device, dst, size);
    };
}

void p2p_other_way_lost(Plugin& plugin) {
    plugin.memory.memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                       hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_p2p(self, dst_device, dst, src_device, src, dst_device < src_device ? 0 : size);
    };
}

// ---- Setting ----

void set_tail_lost(Plugin& plugin) {
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        return base.memory.device_memory_set(self, device, ptr, value, size & ~uint64_t{3});
    };
}

void set_word(Plugin& plugin) {
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        const hal_status status = base.memory.device_memory_set(self, device, ptr, value, size);
        for (uint64_t i = 0; status == HAL_OK && i < size; ++i) {
            if (i % 4 != 0) {
                (void)base.memory.device_memory_set(self, device, ptr + i, 0, std::min<uint64_t>(3, size - i));
                i += 2;
            }
        }
        return status;
    };
}

void set_high_bits(Plugin& plugin) {
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        return value > 0xFF ? refuse(self, HAL_ERROR_INVALID_ARGUMENT, "the value does not fit a byte")
                            : base.memory.device_memory_set(self, device, ptr, value, size);
    };
}

void set_late(Plugin& plugin) {
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        if (size != 0) {
            delay(self, device, nullptr);
        }
        return base.memory_ext.async_memory_set(self, device, nullptr, ptr, value, size);
    };
}

void set_overrun(Plugin& plugin) {
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        const hal_status status = base.memory.device_memory_set(self, device, ptr, value, size);
        if (status == HAL_OK && size % 16 != 0) {
            (void)base.memory.device_memory_set(self, device, ptr, value, (size + 15) / 16 * 16);
        }
        return status;
    };
}

// ---- Lengths ----

namespace {
// As where a length goes through an int.
uint64_t of_31_bits(uint64_t size) {
    return size & 0x7FFFFFFFU;
}
}  // namespace

void copy_length_of_31_bits(Plugin& plugin) {
    plugin.memory.memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_dptr dst, const void* src,
                                       uint64_t size) {
        return base.memory.memory_copy_h2d(self, device, dst, src, of_31_bits(size));
    };
    plugin.memory.memory_copy_d2h = [](hal_instance* self, hal_dev device, void* dst, hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_d2h(self, device, dst, src, of_31_bits(size));
    };
    plugin.memory.memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_d2d(self, device, dst, src, of_31_bits(size));
    };
    plugin.memory.memory_copy_p2p = [](hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                                       hal_dptr src, uint64_t size) {
        return base.memory.memory_copy_p2p(self, dst_device, dst, src_device, src, of_31_bits(size));
    };
    plugin.memory.device_memory_set = [](hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                                         uint64_t size) {
        return base.memory.device_memory_set(self, device, ptr, value, of_31_bits(size));
    };
}

void async_length_of_31_bits(Plugin& plugin) {
    plugin.memory.async_memory_copy_h2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             const void* src, uint64_t size) {
        return base.memory.async_memory_copy_h2d(self, device, stream, dst, src, of_31_bits(size));
    };
    plugin.memory.async_memory_copy_d2h = [](hal_instance* self, hal_dev device, hal_stream stream, void* dst,
                                             hal_dptr src, uint64_t size) {
        return base.memory.async_memory_copy_d2h(self, device, stream, dst, src, of_31_bits(size));
    };
    plugin.memory.async_memory_copy_d2d = [](hal_instance* self, hal_dev device, hal_stream stream, hal_dptr dst,
                                             hal_dptr src, uint64_t size) {
        return base.memory.async_memory_copy_d2d(self, device, stream, dst, src, of_31_bits(size));
    };
}

}  // namespace hal::mutants

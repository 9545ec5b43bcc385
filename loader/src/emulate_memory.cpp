// Emulated entries of table 2 and its extension: all synchronous, staged through host memory in bounded pieces.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "emulate.hpp"
#include "guard.hpp"

namespace hal::loader::emulated {

namespace {

// Large enough that a driver's cost per copy vanishes, small enough to stay in the last-level cache.
constexpr uint64_t piece_bytes = 1u << 20;

std::unique_ptr<std::byte[]> host_buffer(uint64_t size_bytes) {
    return std::make_unique_for_overwrite<std::byte[]>(std::clamp<uint64_t>(size_bytes, 1, piece_bytes));
}

// Calls one(offset, bytes) over the range until it fails; once for 0 bytes, so that the back end checks its arguments.
// From the end where a copy in place moves upwards, as memmove does.
template <class F>
hal_status in_pieces(uint64_t size_bytes, bool backwards, F&& one) {
    uint64_t done = 0;
    do {
        const uint64_t bytes = std::min(piece_bytes, size_bytes - done);
        const uint64_t offset = backwards ? size_bytes - done - bytes : done;
        if (const hal_status status = one(offset, bytes); status != HAL_OK) {
            return status;
        }
        done += bytes;
    } while (done < size_bytes);
    return HAL_OK;
}

hal_status staged_copy(hal_instance* self, const Opened& opened, hal_dev dst_device, hal_dptr dst, hal_dev src_device,
                       hal_dptr src, uint64_t size_bytes) {
    const auto buffer = host_buffer(size_bytes);
    const auto& memory = opened.native().memory;
    return in_pieces(size_bytes, dst_device == src_device && dst > src, [&](uint64_t offset, uint64_t bytes) {
        const hal_status status = memory.memory_copy_d2h(self, src_device, buffer.get(), src + offset, bytes);
        return status != HAL_OK ? status : memory.memory_copy_h2d(self, dst_device, dst + offset, buffer.get(), bytes);
    });
}

// The caller's description, checked: what would reach outside the rows is refused before the first row is copied.
hal_copy_2d checked(const hal_copy_2d* raw) {
    sdk::require(raw, "copy");
    const auto copy = sdk::read_struct(raw, "copy");
    const auto fail = [](const std::string& text) { throw sdk::Error(HAL_ERROR_INVALID_ARGUMENT, "copy->" + text); };
    if (copy.direction < HAL_COPY_H2D || copy.direction > HAL_COPY_D2D) {
        fail("direction is " + std::to_string(copy.direction) + "; HAL_COPY_H2D, _D2H or _D2D is possible");
    }
    if (copy.dst_pitch_bytes < copy.width_bytes || copy.src_pitch_bytes < copy.width_bytes) {
        fail("width_bytes " + std::to_string(copy.width_bytes) + " is above a pitch (" +
             std::to_string(copy.dst_pitch_bytes) + ", " + std::to_string(copy.src_pitch_bytes) + ")");
    }
    for (const auto& [base, pitch] : {std::pair(copy.dst, copy.dst_pitch_bytes), {copy.src, copy.src_pitch_bytes}}) {
        uint64_t extent = 0;
        if (copy.height > 0 && (__builtin_mul_overflow(copy.height - 1, pitch, &extent) ||
                                __builtin_add_overflow(extent, copy.width_bytes, &extent) ||
                                __builtin_add_overflow(extent, base, &extent))) {
            fail("height " + std::to_string(copy.height) + " rows of pitch " + std::to_string(pitch) +
                 " end beyond the address space");
        }
    }
    return copy;
}

}  // namespace

hal_status device_memory_set(hal_instance* self, hal_dev device, hal_dptr ptr, uint32_t value,
                             uint64_t size_bytes) noexcept {
    return guard_emulation(self, [&](const Opened& opened) {
        const auto buffer = host_buffer(size_bytes);
        std::memset(buffer.get(), static_cast<int>(value & 0xffu), std::clamp<uint64_t>(size_bytes, 1, piece_bytes));
        return in_pieces(size_bytes, false, [&](uint64_t offset, uint64_t bytes) {
            return opened.native().memory.memory_copy_h2d(self, device, ptr + offset, buffer.get(), bytes);
        });
    });
}

hal_status memory_copy_d2d(hal_instance* self, hal_dev device, hal_dptr dst, hal_dptr src,
                           uint64_t size_bytes) noexcept {
    return guard_emulation(
        self, [&](const Opened& opened) { return staged_copy(self, opened, device, dst, device, src, size_bytes); });
}

hal_status memory_copy_p2p(hal_instance* self, hal_dev dst_device, hal_dptr dst, hal_dev src_device, hal_dptr src,
                           uint64_t size_bytes) noexcept {
    return guard_emulation(self, [&](const Opened& opened) {
        return staged_copy(self, opened, dst_device, dst, src_device, src, size_bytes);
    });
}

hal_status memory_copy_2d(hal_instance* self, hal_dev device, const hal_copy_2d* raw) noexcept {
    return guard_emulation(self, [&](const Opened& opened) {
        const hal_copy_2d copy = checked(raw);
        const auto& memory = opened.tables().memory;  // d2d may be the emulation above
        const auto host = [](uint64_t address) { return reinterpret_cast<void*>(address); };
        const bool backwards = copy.direction == HAL_COPY_D2D && copy.dst > copy.src;
        for (uint64_t i = 0; i < copy.height; ++i) {
            const uint64_t row = backwards ? copy.height - 1 - i : i;
            const uint64_t dst = copy.dst + row * copy.dst_pitch_bytes;
            const uint64_t src = copy.src + row * copy.src_pitch_bytes;
            const hal_status status = copy.direction == HAL_COPY_H2D
                                          ? memory.memory_copy_h2d(self, device, dst, host(src), copy.width_bytes)
                                      : copy.direction == HAL_COPY_D2H
                                          ? memory.memory_copy_d2h(self, device, host(dst), src, copy.width_bytes)
                                          : memory.memory_copy_d2d(self, device, dst, src, copy.width_bytes);
            if (status != HAL_OK) {
                return status;
            }
        }
        return HAL_OK;
    });
}

}  // namespace hal::loader::emulated

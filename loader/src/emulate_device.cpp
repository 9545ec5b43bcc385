// Emulated entries of table 1.
#include "emulate.hpp"
#include "error.hpp"
#include "guard.hpp"
#include "head.hpp"
#include "opened.hpp"

namespace hal::loader::emulated {

namespace {

void check_device(hal_instance* self, Opened& opened, hal_dev device) {
    int32_t count = 0;
    if (const hal_status status = opened.native().device.get_device_count(self, &count); status != HAL_OK) {
        throw sdk::Error(status, "get_device_count failed: " + std::string(hal_status_text(status)));
    }
    if (device < 0 || device >= count) {
        throw sdk::Error(HAL_ERROR_INVALID_DEVICE,
                         "device " + std::to_string(device) + " of " + std::to_string(count) + " devices");
    }
}

}  // namespace

hal_status initialize(hal_instance* self) noexcept {
    return guard_emulation(self, [](Opened& opened) {
        const std::lock_guard lock(opened.counters().mutex);
        ++opened.counters().initialized;
        return HAL_OK;
    });
}

hal_status finalize(hal_instance* self) noexcept {
    return guard_emulation(self, [](Opened& opened) {
        const std::lock_guard lock(opened.counters().mutex);
        if (opened.counters().initialized == 0) {
            throw sdk::Error(HAL_ERROR_NOT_INITIALIZED, "finalize without an initialize");
        }
        --opened.counters().initialized;
        return HAL_OK;
    });
}

hal_status init_device(hal_instance* self, hal_dev device) noexcept {
    return guard_emulation(self, [&](Opened& opened) {
        check_device(self, opened, device);
        const std::lock_guard lock(opened.counters().mutex);
        ++opened.counters().devices[device];
        return HAL_OK;
    });
}

hal_status deinit_device(hal_instance* self, hal_dev device) noexcept {
    return guard_emulation(self, [&](Opened& opened) {
        check_device(self, opened, device);
        const std::lock_guard lock(opened.counters().mutex);
        uint64_t& count = opened.counters().devices[device];
        if (count == 0) {
            throw sdk::Error(HAL_ERROR_NOT_INITIALIZED, "deinit_device without an init_device");
        }
        --count;
        return HAL_OK;
    });
}

hal_status get_device_list(hal_instance* self, hal_dev* devices, uint32_t capacity, uint32_t* out_count) noexcept {
    return guard_emulation(self, [&](Opened& opened) {
        sdk::require(out_count, "out_count");
        if (capacity > 0) {
            sdk::require(devices, "devices");
        }
        int32_t count = 0;
        if (const hal_status status = opened.native().device.get_device_count(self, &count); status != HAL_OK) {
            return status;
        }
        const auto total = static_cast<uint32_t>(count < 0 ? 0 : count);
        for (uint32_t i = 0; i < std::min(capacity, total); ++i) {
            devices[i] = static_cast<hal_dev>(i);
        }
        *out_count = total;
        return capacity < total ? HAL_INCOMPLETE : HAL_OK;
    });
}

}  // namespace hal::loader::emulated

#include "instance.hpp"

#include <algorithm>

#include "device.hpp"
#include "event.hpp"
#include "hal/register.h"
#include "keep_process.hpp"
#include "live_objects.hpp"

namespace hal::opencl {
namespace {

// The instance whose callbacks this thread runs.
thread_local const Instance* callbacks_of = nullptr;

std::vector<const hal_kernel*> own_kernels() {
    const hal_kernel* const* kernels = nullptr;
    uint64_t count = 0;
    static_cast<void>(hal_registered_kernels(nullptr, &kernels, &count));
    return {kernels, kernels + count};
}

}  // namespace

Instance::Instance(const hal_host* host)
    : Opened(host),
      options_(read_options(host)),
      user_kernels_(options_.kernels, own_kernels()),
      life_("opencl"),
      xccl_(xccl_port_, options_.xccl),
      streams_(std::make_unique<Streams>()),
      events_(std::make_unique<Events>()) {}

Instance::~Instance() {
    xccl_.abort_all();
    // Their callbacks may still use what comes after.
    streams_->for_each_slot([](Stream& stream) { stream.close(); });
    for (const auto& device : devices_) {
        device->default_stream.close();
    }
    events_.reset();  // they refer to the driver's events
    end_devices();
}

void Instance::initialize() {
    refuse_in_callback("initialize");
    const std::lock_guard lock(life_mutex_);
    if (initialize_count_ == 0) {
        const KeepProcess keep;
        if (!api_) {
            api_ = std::make_unique<Api>();
        }
        int32_t ordinal = 0;
        std::vector<std::unique_ptr<Device>> devices;
        for (FoundDevice& found : find_devices(*api_, options_, host())) {
            devices.push_back(std::make_unique<Device>(*this, ordinal++, std::move(found)));
        }
        devices_ = std::move(devices);
        life_.begin();
    }
    ++initialize_count_;
}

void Instance::finalize() {
    refuse_in_callback("finalize");
    const std::lock_guard lock(life_mutex_);
    if (initialize_count_ == 0) {
        throw sdk::Error(HAL_ERROR_NOT_INITIALIZED, "finalize without an initialize");
    }
    if (initialize_count_ == 1) {
        refuse_live_objects();
        life_.end();
        end_devices();
        life_.forget();
    }
    --initialize_count_;
}

// The driver may still be in a function of ours whose event has ended, and everybody who waited is gone.
void Instance::end_devices() {
    devices_.clear();
    if (api_) {
        api_->calls.wait_for_none();
    }
}

void Instance::refuse_live_objects() const {
    shared::LiveObjects live;
    for (const auto& device : devices_) {
        live += device->live_objects();
    }
    live.communicators = xccl_.live();
    if (live.any()) {
        throw sdk::Error(HAL_ERROR_BUSY, "cannot finalize while objects live: " + live.text() + "; destroy them first");
    }
}

const std::vector<const hal_kernel*>& Instance::kernels() const noexcept {
    const bool f64 = devices_.empty() || std::any_of(devices_.begin(), devices_.end(),
                                                     [](const auto& device) { return device->info().has_f64; });
    return f64 ? user_kernels_.all() : user_kernels_.without_f64();
}

void Instance::bad_device(hal_dev device) const {
    throw sdk::Error(HAL_ERROR_INVALID_DEVICE, "there is no device " + std::to_string(device) + ": opencl has " +
                                                   std::to_string(devices_.size()) + ", from 0 on");
}

void Instance::mark_callback_thread() const noexcept {
    callbacks_of = this;
}

bool Instance::in_callback() const noexcept {
    return callbacks_of == this;
}

void Instance::refuse_in_callback(const char* entry) const {
    if (in_callback()) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_REENTRANT, std::string(entry) +
                                                  " was called from a stream's callback, where it could only wait for "
                                                  "itself; call it from another thread");
    }
}

}  // namespace hal::opencl

// Table 1: devices. Everything that only tells what there is, and set_device and get_device, works before initialize
// too; what uses a device (synchronize_device, init_device, deinit_device) does not.
#include "device.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "current_device.hpp"
#include "device_answers.hpp"
#include "event.hpp"
#include "instance.hpp"
#include "record.hpp"
#include "tables.hpp"

namespace hal::cpu {
namespace {

hal_status get_device_name(Opened& opened, hal_dev device, char* buffer, uint64_t capacity_bytes,
                           uint64_t* out_size_bytes) {
    static_cast<void>(opened.device(device));
    const std::string name = instance_of(opened).cpu().model + " #" + std::to_string(device);
    return sdk::write_string(name, buffer, capacity_bytes, out_size_bytes);
}

hal_status get_device_type(Opened& opened, hal_dev device, char* buffer, uint64_t capacity_bytes,
                           uint64_t* out_size_bytes) {
    static_cast<void>(opened.device(device));
    return sdk::write_string(instance_of(opened).cpu().arch, buffer, capacity_bytes, out_size_bytes);
}

// What drives the processor is the kernel.
hal_status get_driver_version(Opened& opened, hal_dev device, hal_version* out_version) {
    static_cast<void>(opened.device(device));
    utsname names{};
    uname(&names);
    return sdk::write_struct(shared::parse_version(names.release), out_version, "out_version");
}

hal_status get_runtime_version(Opened& opened, hal_dev device, hal_version* out_version) {
    static_cast<void>(opened.device(device));
    return sdk::write_struct(shared::parse_version(HAL_CPU_VERSION), out_version, "out_version");
}

hal_status set_device(Opened& opened, hal_dev device) {
    shared::set_current_device(opened.life(), opened.device(device).ordinal);
    return HAL_OK;
}

hal_status get_device(Opened& opened, hal_dev* out_device) {
    sdk::require(out_device, "out_device") = shared::current_device(opened.life());
    return HAL_OK;
}

hal_status synchronize_device(Instance& instance, hal_dev device, uint64_t timeout_ns) {
    instance.refuse_on_worker("synchronize_device");
    Device& owner = instance.device(device);
    const Deadline deadline = Deadline::after(timeout_ns);
    std::vector<Record> tails;
    const auto capture = [&](Stream& stream) {
        if (Point tail = stream.tail_if_of(device); tail.timeline) {
            tails.push_back({.point = std::move(tail)});
        }
    };
    capture(owner.default_stream);
    instance.streams().for_each_slot(capture);
    for (const Record& tail : tails) {
        tail.wait(deadline, instance.waiting(), "synchronize_device");
    }
    // Only now: the work of the healthy streams is complete whatever the others report.
    for (const Record& tail : tails) {
        static_cast<void>(tail.report());
    }
    return HAL_OK;
}

hal_status get_device_count(Opened& opened, int32_t* out_count) {
    sdk::require(out_count, "out_count") = opened.device_count();
    return HAL_OK;
}

hal_status get_device_list(Opened& opened, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
    return shared::list_devices(opened.device_count(), devices, capacity, out_count);
}

hal_status get_compute_capability(Opened& opened, hal_dev device, hal_compute_capability* out_capability) {
    static_cast<void>(opened.device(device));
    const CpuInfo& cpu = instance_of(opened).cpu();
    hal_compute_capability capability{};
    capability.major = cpu.level;
    capability.compute_units = cpu.cores;
    capability.vector_bits = cpu.vector_bits;
    std::strncpy(capability.arch, cpu.arch.c_str(), sizeof capability.arch - 1);
    return sdk::write_struct(capability, out_capability, "out_capability");
}

hal_status initialize(Opened& opened) {
    instance_of(opened).initialize();
    return HAL_OK;
}

hal_status finalize(Opened& opened) {
    instance_of(opened).finalize();
    return HAL_OK;
}

hal_status init_device(Instance& instance, hal_dev device) {
    instance.refuse_on_worker("init_device");
    instance.device(device).initialize();
    return HAL_OK;
}

hal_status deinit_device(Instance& instance, hal_dev device) {
    instance.refuse_on_worker("deinit_device");
    instance.device(device).deinitialize(instance);
    return HAL_OK;
}

}  // namespace

// The default stream's worker is all that a device starts on first use.
void Device::initialize() {
    const std::lock_guard lock(init_mutex_);
    if (init_count_ == 0) {
        static_cast<void>(default_stream.thread_id(nullptr));
    }
    ++init_count_;
}

void Device::deinitialize(Instance& instance) {
    const std::lock_guard lock(init_mutex_);
    if (init_count_ == 0) {
        throw sdk::Error(HAL_ERROR_NOT_INITIALIZED,
                         "deinit_device of device " + std::to_string(ordinal) + " without an init_device");
    }
    if (init_count_ == 1) {
        if (const LiveObjects live = live_objects(); live.any()) {
            throw sdk::Error(HAL_ERROR_BUSY, "cannot de-initialise device " + std::to_string(ordinal) +
                                                 " while objects live: " + live.text() + "; destroy them first");
        }
        default_stream.close();
        default_stream.open(instance, ordinal, nullptr, 0);
    }
    --init_count_;
}

void Device::start(Instance& instance) {
    memory = make_memory(instance, ordinal, instance.options().memory_bytes);
    default_stream.open(instance, ordinal, nullptr, 0);
}

void Device::end_stream() noexcept {
    default_stream.close();
    init_count_ = 0;
}

LiveObjects Device::live_objects() const {
    return {.streams = stream_count.load(), .events = event_count.load(), .allocations = live_allocations(*memory)};
}

const hal_device_table device_table = {
    .header = sdk::header<hal_device_table>(HAL_TABLE_device),
    .get_device_name = sdk::slot<get_device_name>,
    .get_device_type = sdk::slot<get_device_type>,
    .get_driver_version = sdk::slot<get_driver_version>,
    .get_runtime_version = sdk::slot<get_runtime_version>,
    .set_device = sdk::slot<set_device>,
    .get_device = sdk::slot<get_device>,
    .synchronize_device = sdk::slot<synchronize_device>,
    .get_device_count = sdk::slot<get_device_count>,
    .get_device_list = sdk::slot<get_device_list>,
    .get_compute_capability = sdk::slot<get_compute_capability>,
    .initialize = sdk::slot<initialize>,
    .finalize = sdk::slot<finalize>,
    .init_device = sdk::slot<init_device>,
    .deinit_device = sdk::slot<deinit_device>,
};

}  // namespace hal::cpu

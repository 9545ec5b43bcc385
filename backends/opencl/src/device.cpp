// Tables 1 and 101: devices.
#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "current_device.hpp"
#include "device_answers.hpp"
#include "event.hpp"
#include "instance.hpp"
#include "tables.hpp"

namespace hal::opencl {

Device::Device(Instance& instance, int32_t ordinal, FoundDevice found)
    : instance_(instance),
      api_(instance.api()),
      ordinal_(ordinal),
      found_(std::move(found)),
      transfer_queue_(api_, context(), id(), false),
      queue_to_host_(api_, context(), id(), false),
      queue_from_host_(api_, context(), id(), false),
      memory(*this, instance.options()),
      staging(*this),
      programs(*this) {
    default_stream.open(*this, nullptr);
}

Device::~Device() {
    default_stream.close();
}

std::unique_ptr<Queue> Device::make_queue(int32_t priority) const {
    return std::make_unique<Queue>(api_, context(), id(), instance_.options().profiling, priority);
}

// The driver has started the device with its context.
void Device::initialize() {
    const std::lock_guard lock(init_mutex_);
    ++init_count_;
}

void Device::deinitialize() {
    const std::lock_guard lock(init_mutex_);
    if (init_count_ == 0) {
        throw sdk::Error(HAL_ERROR_NOT_INITIALIZED,
                         "deinit_device of device " + std::to_string(ordinal_) + " without an init_device");
    }
    if (init_count_ == 1) {
        if (const shared::LiveObjects live = live_objects(); live.any()) {
            throw sdk::Error(HAL_ERROR_BUSY, "cannot de-initialise device " + std::to_string(ordinal_) +
                                                 " while objects live: " + live.text() + "; destroy them first");
        }
        default_stream.close();
        default_stream.open(*this, nullptr);
    }
    --init_count_;
}

shared::LiveObjects Device::live_objects() {
    return {.streams = stream_count.load(), .events = event_count.load(), .allocations = memory.live()};
}

namespace {

hal_status get_device_name(Instance& instance, hal_dev device, char* buffer, uint64_t capacity_bytes,
                           uint64_t* out_size_bytes) {
    const std::string name = instance.device(device).info().name + " #" + std::to_string(device);
    return sdk::write_string(name, buffer, capacity_bytes, out_size_bytes);
}

hal_status get_device_type(Instance& instance, hal_dev device, char* buffer, uint64_t capacity_bytes,
                           uint64_t* out_size_bytes) {
    return sdk::write_string(instance.device(device).info().name, buffer, capacity_bytes, out_size_bytes);
}

hal_status get_driver_version(Instance& instance, hal_dev device, hal_version* out_version) {
    return sdk::write_struct(shared::parse_version(instance.device(device).info().driver_version), out_version,
                             "out_version");
}

hal_status get_runtime_version(Instance& instance, hal_dev device, hal_version* out_version) {
    return sdk::write_struct(shared::parse_version(instance.device(device).info().version), out_version, "out_version");
}

hal_status set_device(Instance& instance, hal_dev device) {
    shared::set_current_device(instance.life(), instance.device(device).ordinal());
    return HAL_OK;
}

hal_status get_device(Instance& instance, hal_dev* out_device) {
    sdk::require(out_device, "out_device") = shared::current_device(instance.life());
    return HAL_OK;
}

hal_status synchronize_device(Instance& instance, hal_dev device, uint64_t timeout_ns) {
    instance.refuse_in_callback("synchronize_device");
    Device& owner = instance.device(device);
    const auto deadline = shared::Deadline::after(timeout_ns);
    std::vector<Point> tails;
    const auto capture = [&](Stream& stream) {
        if (auto tail = stream.tail_if_of(owner)) {
            tails.push_back(std::move(*tail));
        }
    };
    capture(owner.default_stream);
    instance.streams().for_each_slot(capture);
    for (const Point& tail : tails) {
        wait(instance.api(), tail, deadline, "synchronize_device");
    }
    owner.memory.sweep();
    // Only now: the work of the healthy streams is complete whatever the others report.
    for (const Point& tail : tails) {
        report(tail);
    }
    return HAL_OK;
}

hal_status get_device_count(Instance& instance, int32_t* out_count) {
    sdk::require(out_count, "out_count") = instance.device_count();
    return HAL_OK;
}

hal_status get_device_list(Instance& instance, hal_dev* devices, uint32_t capacity, uint32_t* out_count) {
    return shared::list_devices(instance.device_count(), devices, capacity, out_count);
}

hal_status get_compute_capability(Instance& instance, hal_dev device, hal_compute_capability* out_capability) {
    const DeviceInfo& info = instance.device(device).info();
    const hal_version version = shared::parse_version(info.version);
    hal_compute_capability capability{};
    capability.major = version.major;
    capability.minor = version.minor;
    capability.compute_units = info.compute_units;
    capability.vector_bits = info.vector_bits;
    const std::string arch = "opencl-" + std::to_string(version.major) + "." + std::to_string(version.minor);
    std::strncpy(capability.arch, arch.c_str(), sizeof capability.arch - 1);
    return sdk::write_struct(capability, out_capability, "out_capability");
}

hal_status initialize(Instance& instance) {
    instance.initialize();
    return HAL_OK;
}

hal_status finalize(Instance& instance) {
    instance.finalize();
    return HAL_OK;
}

hal_status init_device(Instance& instance, hal_dev device) {
    instance.refuse_in_callback("init_device");
    instance.device(device).initialize();
    return HAL_OK;
}

hal_status deinit_device(Instance& instance, hal_dev device) {
    instance.refuse_in_callback("deinit_device");
    instance.device(device).deinitialize();
    return HAL_OK;
}

uint32_t kind_of(cl_device_type type) {
    if ((type & CL_DEVICE_TYPE_CPU) != 0) {
        return HAL_KIND_CPU;
    }
    return (type & CL_DEVICE_TYPE_GPU) != 0 ? HAL_KIND_GPU : HAL_KIND_OTHER;
}

hal_status get_device_properties(Instance& instance, hal_dev device, hal_device_properties* out_properties) {
    const Device& owner = instance.device(device);
    hal_device_properties properties{};
    properties.kind = kind_of(owner.info().type);
    properties.flags = HAL_DEVICE_CONCURRENT_STREAMS |
                       (owner.memory.host_accessible() ? HAL_DEVICE_HOST_ACCESSIBLE : 0) |
                       (properties.kind == HAL_KIND_CPU ? HAL_DEVICE_SOFTWARE : 0);
    properties.numa_node = -1;
    properties.alignment_bytes = static_cast<uint32_t>(owner.memory.granule_bytes());
    properties.total_memory_bytes = owner.memory.limit_bytes();
    std::strncpy(properties.vendor, owner.info().vendor.c_str(), sizeof properties.vendor - 1);
    return sdk::write_struct(properties, out_properties, "out_properties");
}

// The host's clock, which timing events use.
hal_status device_time(Instance& instance, hal_dev device, uint64_t* out_time_ns) {
    static_cast<void>(instance.device(device));
    sdk::require(out_time_ns, "out_time_ns") = shared::now_ns();
    return HAL_OK;
}

// Without an admission: they are what makes the instance usable, or tells that it is not.
hal_status initialize_slot(hal_instance* self) {
    if (self == nullptr) {
        return HAL_ERROR_INVALID_HANDLE;
    }
    auto& instance = *reinterpret_cast<Instance*>(self);
    if (instance.life().forked()) {
        return instance.life().refuse(instance.host());
    }
    return sdk::guard(instance.host(), [&] { return initialize(instance); });
}

}  // namespace

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
    .initialize = initialize_slot,
    .finalize = sdk::slot<finalize>,
    .init_device = sdk::slot<init_device>,
    .deinit_device = sdk::slot<deinit_device>,
};

const hal_device_ext_table device_ext_table = {
    .header = sdk::header<hal_device_ext_table>(HAL_TABLE_device_ext),
    .get_device_properties = sdk::slot<get_device_properties>,
    .device_time = sdk::slot<device_time>,
};

}  // namespace hal::opencl

#include "instance.hpp"

#include "device.hpp"
#include "event.hpp"

namespace hal::cpu {
namespace {

// The instance whose worker this thread is.
thread_local const Instance* worker_of = nullptr;

}  // namespace

Opened::Opened(const hal_host* host) : host_(host), life_("cpu.ref") {}

Opened::~Opened() = default;

void Opened::bad_device(hal_dev device) const {
    throw sdk::Error(HAL_ERROR_INVALID_DEVICE, "there is no device " + std::to_string(device) + ": cpu.ref has " +
                                                   std::to_string(devices_.size()) + ", from 0 on");
}

Instance::Instance(const hal_host* host)
    : Opened(host),
      options_(read_options(host)),
      streams_(std::make_unique<Streams>()),
      events_(std::make_unique<Events>()),
      xccl_(xccl_port_, options_.xccl) {
    for (int32_t ordinal = 0; ordinal < options_.devices; ++ordinal) {
        devices_.push_back(std::make_unique<Device>(ordinal));
    }
}

Instance::~Instance() {
    ending_.store(true, std::memory_order_relaxed);
    xccl_.abort_all();
    // First all are told, then all are waited for: a stream may wait for another.
    streams_->for_each_slot([](Stream& stream) { stream.cancel(); });
    streams_->for_each_slot([](Stream& stream) { stream.close(); });
    end_devices(true);
}

void Instance::initialize() {
    refuse_on_worker("initialize");
    const std::lock_guard lock(life_mutex_);
    if (initialize_count_ == 0) {
        try {
            start_devices();
        } catch (...) {
            end_devices(true);
            throw;
        }
        life_.begin();
    }
    ++initialize_count_;
}

void Instance::start_devices() {
    for (const auto& device : devices_) {
        device->start(*this);
    }
}

void Instance::end_devices(bool cancel) noexcept {
    for (const auto& device : devices_) {
        if (cancel) {
            device->default_stream.cancel();
        }
    }
    for (const auto& device : devices_) {
        device->end_stream();
    }
    // Behind all streams: work of one device may free memory of another.
    for (const auto& device : devices_) {
        device->memory.reset();
    }
}

void Instance::finalize() {
    refuse_on_worker("finalize");
    const std::lock_guard lock(life_mutex_);
    if (initialize_count_ == 0) {
        throw sdk::Error(HAL_ERROR_NOT_INITIALIZED, "finalize without an initialize");
    }
    if (initialize_count_ == 1) {
        refuse_live_objects();
        life_.end();
        end_devices(false);
        life_.forget();
    }
    --initialize_count_;
}

void Instance::refuse_live_objects() const {
    LiveObjects live;
    for (const auto& device : devices_) {
        live += device->live_objects();
    }
    live.communicators = xccl_.live();
    if (live.any()) {
        throw sdk::Error(HAL_ERROR_BUSY, "cannot finalize while objects live: " + live.text() + "; destroy them first");
    }
}

void Instance::mark_worker() const noexcept {
    worker_of = this;
}

bool Instance::on_worker() const noexcept {
    return worker_of == this;
}

void Instance::refuse_on_worker(const char* entry) const {
    if (on_worker()) [[unlikely]] {
        throw sdk::Error(HAL_ERROR_REENTRANT,
                         std::string(entry) +
                             " was called from a callback or kernel on a stream's own thread, where it "
                             "could only wait for itself; call it from another thread");
    }
}

const CpuInfo& Instance::cpu() {
    std::call_once(cpu_once_, [this] { cpu_ = read_cpu_info(); });
    return cpu_;
}

}  // namespace hal::cpu

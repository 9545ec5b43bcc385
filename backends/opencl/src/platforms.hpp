// What OpenCL offers on this machine: platforms, their devices, one context for all devices of a platform.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api.hpp"
#include "options.hpp"

namespace hal::opencl {

struct DeviceInfo {
    std::string name;
    std::string vendor;
    std::string driver_version;
    std::string version;  // "OpenCL 3.0 PoCL ..."
    std::string platform;
    cl_device_type type = 0;
    uint32_t compute_units = 0;
    uint32_t vector_bits = 0;
    uint64_t memory_bytes = 0;
    uint64_t max_allocation_bytes = 0;
    uint64_t alignment_bytes = 0;
    cl_device_svm_capabilities svm = 0;  // 0 below OpenCL 2.0
    bool has_f64 = false;
    bool has_spirv = false;
    bool has_priorities = false;  // cl_khr_priority_hints, and the call of OpenCL 2.0 that takes them
};

// A context, released with the last device that uses it.
class Context {
  public:
    Context(const Api& api, const std::vector<cl_device_id>& devices);
    ~Context() { api_.clReleaseContext(context_); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    [[nodiscard]] cl_context get() const noexcept { return context_; }

  private:
    const Api& api_;
    cl_context context_;
};

struct FoundDevice {
    cl_device_id id = nullptr;
    DeviceInfo info;
    std::shared_ptr<Context> context;
};

// The devices that the options choose, in the order of the platforms. A platform that fails is told in the log and
// leaves the others alone. Throws sdk::Error NO_DEVICE with what was found instead.
[[nodiscard]] std::vector<FoundDevice> find_devices(const Api& api, const Options& options, const hal_host* host);

}  // namespace hal::opencl

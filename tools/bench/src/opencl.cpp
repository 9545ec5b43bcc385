#include "opencl.hpp"

#ifdef HAL_BENCH_OPENCL

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/cl_icd.h>
#include <fmt/format.h>

#include <CL/opencl.hpp>

namespace hal::bench {
namespace {

class OpenClQueue final : public OpenCl {
  public:
    explicit OpenClQueue(const cl::Device& device)
        : device_(device), context_(device), queue_(context_, device), kernel_(build(context_), "nothing") {}

    [[nodiscard]] std::string platform() const override {
        return cl::Platform(device_.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>();
    }

    void retain_by_loader(uint64_t count) const override {
        for (uint64_t i = 0; i < count; ++i) {
            clRetainDevice(device_());
        }
    }

    void retain_by_driver(uint64_t count) const override {
        // The first word of every object of an ICD driver is its dispatch table.
        const auto retain = (*reinterpret_cast<cl_icd_dispatch* const*>(device_()))->clRetainDevice;
        for (uint64_t i = 0; i < count; ++i) {
            retain(device_());
        }
    }

    void launch_then_finish(uint64_t count) const override {
        const size_t one = 1;
        for (uint64_t i = 0; i < count; ++i) {
            const cl_int status =
                clEnqueueNDRangeKernel(queue_(), kernel_(), 1, nullptr, &one, nullptr, 0, nullptr, nullptr);
            if (status != CL_SUCCESS) {
                throw cl::Error(status, "clEnqueueNDRangeKernel");
            }
        }
        queue_.finish();
    }

  private:
    static cl::Program build(const cl::Context& context) {
        cl::Program program(context, "__kernel void nothing() {}");
        program.build();
        return program;
    }

    cl::Device device_;
    cl::Context context_;
    cl::CommandQueue queue_;
    cl::Kernel kernel_;
};

}  // namespace

std::shared_ptr<OpenCl> OpenCl::open(std::string* absence) {
    try {
        return std::make_shared<OpenClQueue>(cl::Device::getDefault());
    } catch (const cl::Error& error) {
        *absence = fmt::format("no OpenCL peer: {} answered {}", error.what(), error.err());
        return nullptr;
    }
}

}  // namespace hal::bench

#else

namespace hal::bench {

std::shared_ptr<OpenCl> OpenCl::open(std::string* absence) {
    *absence = "no OpenCL peer: built without it";
    return nullptr;
}

}  // namespace hal::bench

#endif

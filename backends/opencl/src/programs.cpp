#include "programs.hpp"

#include <chrono>

#include "device.hpp"
#include "instance.hpp"

namespace hal::opencl {
namespace {

std::string text_of(const Source& source) {
    std::string text;
    for (const std::string_view part : source.parts) {
        text.append(part);
    }
    return text;
}

// Everything that the binary depends on.
std::string cache_key(const Device& device, const Source& source, const std::string& options) {
    const DeviceInfo& info = device.info();
    std::string key;
    for (const std::string& part : {info.platform, info.name, info.version, info.driver_version, options}) {
        key.append(part).append("\n");
    }
    return key.append(text_of(source));
}

std::string build_log(const Device& device, cl_program program) {
    size_t size = 0;
    const Api& api = device.api();
    if (api.clGetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS) {
        return "the driver gives no log";
    }
    std::string log(size, '\0');
    static_cast<void>(api.clGetProgramBuildInfo(program, device.id(), CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
    log.resize(log.find('\0') == std::string::npos ? size : log.find('\0'));
    return log.empty() ? "the driver's log is empty" : log;
}

}  // namespace

Program::Program(const Device& device, const ProgramCache& cache, const Source& source, const std::string& options)
    : api_(device.api()) {
    const std::string key = cache_key(device, source, options);
    try {
        if (const std::string kept = cache.read(key); !kept.empty()) {
            load(device, kept, options);
        }
        if (program_ == nullptr) {
            const auto begin = std::chrono::steady_clock::now();
            build(device, source, options);
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
            const std::string where = cache.write(key, binary());
            const hal_host* const host = device.instance().host();
            host->log(host, HAL_LOG_INFO,
                      ("opencl: built " + std::string(source.name) + " (" + options + ") for device " +
                       std::to_string(device.ordinal()) + " in " + std::to_string(static_cast<int64_t>(took.count())) +
                       " ms; " + where)
                          .c_str());
        }
        find_kernels(device);
    } catch (...) {
        release();
        throw;
    }
}

Program::~Program() {
    release();
}

void Program::release() noexcept {
    for (auto& [name, kernel] : kernels_) {
        static_cast<void>(api_.clReleaseKernel(kernel.kernel));
    }
    if (program_ != nullptr) {
        static_cast<void>(api_.clReleaseProgram(program_));
    }
}

// What the driver refuses is built anew.
void Program::load(const Device& device, const std::string& binary, const std::string& options) {
    cl_device_id id = device.id();
    const size_t size = binary.size();
    const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
    cl_int status = CL_SUCCESS;
    cl_int error = CL_SUCCESS;
    program_ = api_.clCreateProgramWithBinary(device.context(), 1, &id, &size, &data, &status, &error);
    if (error == CL_SUCCESS && api_.clBuildProgram(program_, 1, &id, options.c_str(), nullptr, nullptr) == CL_SUCCESS) {
        return;
    }
    if (program_ != nullptr) {
        static_cast<void>(api_.clReleaseProgram(program_));
        program_ = nullptr;
    }
}

void Program::create(const Device& device, const Source& source) {
    const std::string text = text_of(source);
    const char* data = text.data();
    const size_t size = text.size();
    cl_int error = CL_SUCCESS;
    if (!source.spirv) {
        program_ = api_.clCreateProgramWithSource(device.context(), 1, &data, &size, &error);
        check(error, "clCreateProgramWithSource");
    } else if (device.info().has_spirv) {
        program_ = api_.clCreateProgramWithIL(device.context(), data, size, &error);
        check(error, "clCreateProgramWithIL");
    } else {
        throw sdk::Error(HAL_ERROR_UNSUPPORTED, std::string(source.name) + ": device " +
                                                    std::to_string(device.ordinal()) + " takes no SPIR-V");
    }
}

void Program::build(const Device& device, const Source& source, const std::string& options) {
    create(device, source);
    cl_device_id id = device.id();
    const cl_int error = api_.clBuildProgram(program_, 1, &id, options.c_str(), nullptr, nullptr);
    if (error != CL_SUCCESS) {
        throw sdk::Error(cl_status(error),
                         std::string(source.name) + " (" + options + ") does not build for device " +
                             std::to_string(device.ordinal()) + ", the driver says " + cl_text(error) + ": " +
                             build_log(device, program_),
                         error);
    }
}

std::string Program::binary() const {
    size_t size = 0;
    if (api_.clGetProgramInfo(program_, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS) {
        return {};
    }
    std::string binary(size, '\0');
    char* data = binary.data();
    const cl_int error =
        api_.clGetProgramInfo(program_, CL_PROGRAM_BINARIES, sizeof data, static_cast<void*>(&data), nullptr);
    return error == CL_SUCCESS ? binary : std::string();
}

void Program::find_kernels(const Device& device) {
    size_t size = 0;
    check(api_.clGetProgramInfo(program_, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size), "clGetProgramInfo");
    std::string names(size, '\0');
    check(api_.clGetProgramInfo(program_, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr), "clGetProgramInfo");
    names.resize(std::min(names.find('\0'), names.size()));
    for (size_t begin = 0; begin < names.size();) {
        const size_t end = std::min(names.find(';', begin), names.size());
        Kernel& kernel = kernels_[names.substr(begin, end - begin)];
        cl_int error = CL_SUCCESS;
        kernel.kernel = api_.clCreateKernel(program_, names.substr(begin, end - begin).c_str(), &error);
        check(error, "clCreateKernel");
        check(api_.clGetKernelWorkGroupInfo(kernel.kernel, device.id(), CL_KERNEL_WORK_GROUP_SIZE,
                                            sizeof kernel.most_items, &kernel.most_items, nullptr),
              "clGetKernelWorkGroupInfo");
        begin = end + 1;
    }
}

Kernel& Program::kernel(std::string_view name) const {
    const auto found = kernels_.find(name);
    if (found == kernels_.end()) {
        throw sdk::Error(HAL_ERROR_NOT_FOUND, "the program has no kernel " + std::string(name));
    }
    return found->second;
}

Programs::Programs(const Device& device) : device_(device), cache_(device.instance().options().program_cache) {}

Program& Programs::build(const Key& key, const std::string& options) {
    const std::lock_guard one(build_mutex_);
    {
        const std::shared_lock lock(mutex_);
        if (const auto found = programs_.find(key); found != programs_.end()) {
            return *found->second;  // another thread was first
        }
    }
    auto program = std::make_unique<Program>(device_, cache_, *key.first, options);
    const std::unique_lock lock(mutex_);
    return *programs_.emplace(key, std::move(program)).first->second;
}

}  // namespace hal::opencl
